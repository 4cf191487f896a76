import { Buffer } from 'node:buffer';

/** Size of most commits. Memory of that size is reused, as much as commits have needed at once. */
const usualBytes = 16 * 1024;
const usualRecords = 128;
const maxSpares = 16;

interface Memory {
  readonly bytes: Buffer;
  readonly ends: Uint32Array;
}

const spares: Memory[] = [];

/** Records of one commit, as they were when they were added, one behind the other: they are written in one piece. */
export class Records {
  #bytes: Buffer;
  #ends: Uint32Array;
  #size = 0;
  #count = 0;

  constructor() {
    const { bytes, ends } = spares.pop() ?? newMemory();
    this.#bytes = bytes;
    this.#ends = ends;
  }

  get count(): number {
    return this.#count;
  }

  /** Size of all records, in bytes. */
  get size(): number {
    return this.#size;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  /** Ends of the records in the bytes. */
  get ends(): Uint32Array {
    return this.#ends.subarray(0, this.#count);
  }

  /** Throws if there is no memory for it; the others are as they were. */
  add(data: string | Uint8Array, size: number): void {
    const at = this.#size;
    this.#reserve(at + size);
    if (typeof data === 'string') this.#bytes.write(data, at, size);
    else this.#bytes.set(data, at);
    this.#size = at + size;
    this.#ends[this.#count++] = this.#size;
  }

  /** Leaves only those that are wanted. */
  keep(isWanted: (index: number) => boolean): void {
    const { ends, count } = this;
    let from = 0;
    this.#size = this.#count = 0;
    for (let i = 0; i < count; i++) {
      const end = ends[i]!;
      if (isWanted(i)) {
        this.#bytes.copyWithin(this.#size, from, end);
        this.#size += end - from;
        this.#ends[this.#count++] = this.#size;
      }
      from = end;
    }
  }

  /** Frees the memory: the records are no longer read. */
  free(): void {
    const memory = { bytes: this.#bytes, ends: this.#ends };
    if (memory.bytes.length === usualBytes && spares.length < maxSpares) spares.push(memory);
  }

  #reserve(size: number): void {
    if (size > this.#bytes.length) {
      const longer = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length));
      this.#bytes.copy(longer, 0, 0, this.#size);
      this.#bytes = longer;
    }
    if (this.#count === this.#ends.length) {
      const longer = new Uint32Array(2 * this.#count);
      longer.set(this.#ends);
      this.#ends = longer;
    }
  }
}

function newMemory(): Memory {
  return { bytes: Buffer.allocUnsafeSlow(usualBytes), ends: new Uint32Array(usualRecords) };
}
