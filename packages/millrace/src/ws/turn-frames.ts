/** The frames of one turn, encoded once for each content. Each is a copy: its source may change right after. */
import { isUint8Array } from '@millrace/base/realm';
import { encode, payloadOf } from './frame.js';
import { SharedFrame } from './sequence.js';
import type { FrameParts } from './ws-class.js';

/** A frame in parts, and what they were when it was joined. */
interface Joined {
  readonly header: Buffer;
  readonly payload: Buffer;
  /** The payload as text, if it came as text. */
  readonly text: string | null;
  readonly frame: SharedFrame;
}

interface Copied {
  readonly payload: Buffer;
  readonly binary: boolean;
  readonly frame: SharedFrame;
}

/** Bytes above which copying and comparing costs more than encoding again. */
export const maxCopied = 16 * 1024;
const empty = Buffer.alloc(0);

/** Reports whether two contents are the same text, the same object, or a few bytes that are equal. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (isUint8Array(one) &&
    isUint8Array(other) &&
    one.length === other.length &&
    one.length <= maxCopied &&
    Buffer.compare(one, other) === 0);

export class TurnFrames {
  /** Bytes that have been encoded in this turn. */
  bytes = 0;
  /** Frames that have been encoded, ever. */
  encoded = 0;
  readonly #texts = new Map<string, SharedFrame>();
  readonly #copies = new Map<Uint8Array, Copied>();
  readonly #joined = new Map<object, Joined>();
  /** Content of the frame before this one, which ws has written itself. */
  #passed: object | string | null = null;
  /** The last of each: a message usually goes to one socket after another. */
  #text: string | null = null;
  #textFrame!: SharedFrame;
  #source: Uint8Array | null = null;
  #copied!: Copied;

  /**
   * Reports whether the content is that of the frame before this one in this turn, so that it pays to encode it for more.
   * Otherwise it is remembered as such.
   */
  isRepeated(content: object | string): boolean {
    const isRepeated =
      isSame(content, this.#passed) || isSame(content, this.#text) || isSame(content, this.#source);
    if (!isRepeated) this.#passed = content;
    return isRepeated;
  }

  /** A text message. */
  text(data: string): SharedFrame {
    if (data === this.#text) return this.#textFrame;
    let frame = this.#texts.get(data);
    if (frame === undefined) {
      frame = this.#made(encode(data, false));
      this.#texts.set(data, frame);
    }
    this.#text = data;
    this.#textFrame = frame;
    return frame;
  }

  /**
   * A message from bytes. The same object counts as the same content only if its bytes have not changed; another one only if it has the
   * bytes of the message before it.
   */
  copy(data: Uint8Array, binary: boolean): SharedFrame {
    let known = data === this.#source ? this.#copied : this.#copies.get(data);
    if (known === undefined && this.#source !== null) known = this.#copied;
    if (known !== undefined && isCopyOf(known, data, binary)) {
      this.#source = data;
      this.#copied = known;
      return known.frame;
    }
    const frame = this.#made(encode(data, binary));
    const copied = { payload: payloadOf(frame.data), binary, frame };
    this.#copies.set(data, copied);
    this.#source = data;
    this.#copied = copied;
    return frame;
  }

  /** A frame that is encoded already, in parts which may change as bytes may. */
  joined(parts: FrameParts): SharedFrame {
    const [header, source] = parts as [Buffer, (Buffer | string)?];
    const known = this.#joined.get(parts);
    if (known !== undefined && isUnchanged(known, header, source)) return known.frame;
    const text = typeof source === 'string' ? source : null;
    const payload = text === null ? ((source as Buffer | undefined) ?? empty) : Buffer.from(text);
    const frame = this.#made(Buffer.concat([header, payload]));
    this.#joined.set(parts, {
      header: frame.data.subarray(0, header.length),
      payload: frame.data.subarray(header.length),
      text,
      frame,
    });
    return frame;
  }

  #made(data: Buffer): SharedFrame {
    this.bytes += data.length;
    this.encoded++;
    return new SharedFrame(data);
  }

  /** The turn is over. */
  clear(): void {
    this.bytes = 0;
    this.#passed = null;
    this.#text = null;
    this.#source = null;
    if (this.#texts.size > 0) this.#texts.clear();
    if (this.#copies.size > 0) this.#copies.clear();
    if (this.#joined.size > 0) this.#joined.clear();
  }
}

/** Lengths first: that is cheaper than the call. */
function isCopyOf({ payload, binary }: Copied, data: Uint8Array, isBinary: boolean): boolean {
  return binary === isBinary && payload.length === data.length && payload.equals(data);
}

function isUnchanged(known: Joined, header: Buffer, source: Buffer | string | undefined): boolean {
  if (!known.header.equals(header)) return false;
  if (typeof source === 'string') return source === known.text;
  return known.text === null && known.payload.equals(source ?? empty);
}
