/** A message that many connections get. */
import { isArrayBuffer } from '../../core/realm.cjs';
import { encode } from '../frame.js';
import { SharedFrame } from '../sequence.js';
import type { Connection } from './connection.js';

/** What socket.io has encoded for many connections: as frames of WebSocket, once, when the first of them wants these. */
export class Message {
  readonly #parts: readonly unknown[];
  #frame: SharedFrame | null | undefined;
  #isBinary = false;

  /** `encoded`: a string or bytes, or several of them that belong together. */
  constructor(encoded: unknown) {
    this.#parts = Array.isArray(encoded) ? encoded : [encoded];
  }

  /** Null if it looks different for this connection. A copy: the application may use its buffers again right away. */
  frameFor({ protocol, transport }: Connection): SharedFrame | null {
    if (this.#frame === undefined) this.#frame = this.#encode();
    // Binary messages have a type byte in version 3 of the protocol, and are text for clients that want base64.
    if (this.#isBinary && (protocol !== 4 || !transport.supportsBinary)) return null;
    return this.#frame;
  }

  #encode(): SharedFrame | null {
    const frames: Buffer[] = [];
    for (const part of this.#parts) {
      if (typeof part === 'string') {
        // "4" is the type `message` of engine.io.
        frames.push(encode(`4${part}`, false));
      } else if (ArrayBuffer.isView(part)) {
        this.#isBinary = true;
        frames.push(encode(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), true));
      } else if (isArrayBuffer(part)) {
        this.#isBinary = true;
        frames.push(encode(new Uint8Array(part), true));
      } else {
        return null;
      }
    }
    return new SharedFrame(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}
