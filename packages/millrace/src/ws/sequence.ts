/**
 * Frames that sockets send in one turn, as a tree: a node is a sequence of frames, its children are one frame longer. Sockets
 * that send the same frames in the same order come to the same node, one step a frame, without anything being compared.
 */
import type { Content } from './content.js';

/** An encoded frame that any number of sockets send. */
export class SharedFrame {
  readonly data: Buffer;
  /** Last step from it, and all other steps by the node from which they were made. */
  #from: Sequence | null = null;
  #to: Sequence | null = null;
  #others: Map<Sequence, Sequence> | null = null;

  constructor(data: Buffer) {
    this.data = data;
  }

  /** The sequence that follows when this frame is sent after `from`. */
  after(from: Sequence): Sequence {
    if (this.#from === from) return this.#to!;
    let to: Sequence | undefined;
    if (this.#from !== null) {
      this.#others ??= new Map();
      this.#others.set(this.#from, this.#to!);
      to = this.#others.get(from);
    }
    to ??= new Sequence(from, this);
    this.#from = from;
    this.#to = to;
    return to;
  }
}

export class Sequence implements Content {
  readonly #before: Sequence | null;
  readonly #last: SharedFrame;
  /** Bytes. */
  readonly length: number;
  readonly frames: number;
  /** Place among the groups of the turn that is ending; -1 before. */
  group = -1;
  #bytes: Buffer | null = null;
  #parts: readonly [Buffer] | null = null;

  constructor(before: Sequence | null, last: SharedFrame) {
    this.#before = before;
    this.#last = last;
    this.length = (before?.length ?? 0) + last.data.length;
    this.frames = before === null ? 0 : before.frames + 1;
  }

  copyTo(target: Buffer, offset: number): void {
    let end = offset + this.length;
    for (let node: Sequence = this; node.#before !== null; node = node.#before) {
      const { data } = node.#last;
      end -= data.length;
      target.set(data, end);
    }
  }

  /** The sequence in which other frames are in the place of some of these. */
  replaced(by: ReadonlyMap<SharedFrame, SharedFrame>): Sequence {
    const frames: SharedFrame[] = [];
    for (let node: Sequence = this; node.#before !== null; node = node.#before) {
      frames.push(by.get(node.#last) ?? node.#last);
    }
    return frames.reduceRight((sequence, frame) => frame.after(sequence), nothing);
  }

  /** The bytes as a frame of ws, one object for all sockets, by which it is known that they send the same. */
  parts(): readonly [Buffer] {
    this.#parts ??= [this.bytes()];
    return this.#parts;
  }

  bytes(): Buffer {
    if (this.#bytes !== null) return this.#bytes;
    if (this.frames === 1) return this.#last.data;
    this.#bytes = Buffer.allocUnsafe(this.length);
    this.copyTo(this.#bytes, 0);
    return this.#bytes;
  }
}

/** Sequence of a socket that has sent nothing yet. */
export const nothing = new Sequence(null, new SharedFrame(Buffer.alloc(0)));
