const newline = 0x0a;

/** Splits a stream of bytes into lines of JSON. Lines that are too long, or not objects, are counted and left out. */
export class JsonLines {
  dropped = 0;
  #parts: Buffer[] = [];
  #bytes = 0;
  #tooLong = false;

  constructor(
    readonly maxBytes: number,
    readonly onObject: (object: Record<string, unknown>) => void,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer) {
    this.#bytes += part.length;
    if (this.#bytes > this.maxBytes) {
      this.#tooLong = true;
      this.#parts = [];
    } else {
      this.#parts.push(part);
    }
  }

  #end() {
    const object = this.#tooLong ? null : parse(Buffer.concat(this.#parts).toString());
    this.#parts = [];
    this.#bytes = 0;
    this.#tooLong = false;
    if (object === null) this.dropped += 1;
    else this.onObject(object);
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
