/** A message on its way to many sockets: encoded once, whoever gets it. */

import { MillraceError, show } from '@millrace/base/errors';
import type { PriorityClass } from '@millrace/base/priority';
import { isAnyArrayBuffer } from '@millrace/base/realm';
import type { Tick } from '../engine/queue.js';
import type { Message, StreamFields } from './across.js';
import type { Chunk } from './backlog.js';
import type { Content } from './content.js';

/** Data of a message: text as a string, anything else as binary. */
export type Data = string | Buffer | ArrayBuffer | ArrayBufferView;

const atStart: Tick = { time: 0 };

export class Frame implements Chunk, Message {
  readonly binary: boolean;
  /** The whole WebSocket frame. A copy, so that the caller's buffer can be used again right away. */
  readonly data: Buffer;
  readonly priority: PriorityClass;
  /** The one member that does not get it. */
  readonly except: object | null;
  /** A newer frame of the same topic and key supersedes it; undefined: none does. */
  readonly key: unknown;
  /** The room or the member that it is for. */
  topic: object | null = null;
  /** Number of its publication: decides what a member that joined or left meanwhile gets. */
  published = 0;
  /** Arrival number, which is that of the frame whose place it took; set when it leaves the queue. */
  seq = 0;
  /** Shared by the frames of a turn; set when it leaves the queue. */
  tick: Tick = atStart;
  /** Place in the batch it leaves in: the order among frames of different rooms. */
  place = 0;
  /** Route to other processes; null if it is for this one alone. */
  route: object | null = null;
  /** Fields of the message as an event of a stream; null: none. */
  readonly stream: StreamFields | null;
  /** The message as an event of a stream; null until a member needs it. Made after it has left the queue. */
  streamed: Chunk | null = null;

  constructor(
    data: Data,
    binary: boolean,
    priority: PriorityClass,
    except: object | null,
    key: unknown,
    stream: StreamFields | null,
  ) {
    this.data = encode(typeof data === 'string' ? data : toBytes(data), binary);
    this.binary = binary;
    this.priority = priority;
    this.except = except;
    this.key = key;
    this.stream = stream;
  }

  /** Time of the push. */
  get time(): number {
    return this.tick.time;
  }

  /** The payload alone, for sockets whose frames only ws can encode. */
  get payload(): Buffer {
    return payloadOf(this.data);
  }
}

/** A whole message as a server sends it, in one frame: a copy. */
export function encode(data: string | Uint8Array, binary: boolean): Buffer {
  const isText = typeof data === 'string';
  const length = isText ? Buffer.byteLength(data) : data.length;
  const frame = withHeader(length, binary);
  const offset = frame.length - length;
  if (isText) frame.write(data, offset);
  else frame.set(data, offset);
  return frame;
}

/** The payload of a frame that `encode` has made. */
export function payloadOf(frame: Buffer): Buffer {
  return frame.subarray(frame[1]! < 126 ? 2 : frame[1] === 126 ? 4 : 10);
}

/** A whole message in one frame, as a server sends it (RFC 6455, 5.2): the header, and room for the payload. */
function withHeader(length: number, binary: boolean): Buffer {
  const headerBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame[0] = binary ? 0x82 : 0x81;
  if (headerBytes === 2) {
    frame[1] = length;
  } else if (headerBytes === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt16BE(0, 2);
    frame.writeUIntBE(length, 4, 6);
  }
  return frame;
}

function toBytes(data: Exclude<Data, string>): Uint8Array {
  if (Buffer.isBuffer(data)) return data;
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (isAnyArrayBuffer(data)) return new Uint8Array(data);
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `a message is ${show(data)}; it must be a string, a Buffer, a typed array or an ArrayBuffer`,
  );
}

/** Several frames, or other chunks, as the bytes of one write. */
export class Joined<C extends Chunk = Frame> implements Content {
  readonly frames: readonly C[];
  readonly length: number;
  /** True if some of them have keys. */
  readonly hasKeys: boolean;
  #bytes: Buffer | null = null;

  constructor(frames: readonly C[]) {
    this.frames = frames;
    let length = 0;
    let hasKeys = false;
    for (const frame of frames) {
      length += frame.data.length;
      if (frame.key !== undefined) hasKeys = true;
    }
    this.length = length;
    this.hasKeys = hasKeys;
  }

  copyTo(target: Buffer, offset: number): void {
    let end = offset;
    for (const { data } of this.frames) {
      target.set(data, end);
      end += data.length;
    }
  }

  bytes(): Buffer {
    if (this.frames.length === 1) return this.frames[0]!.data;
    if (this.#bytes === null) {
      this.#bytes = Buffer.allocUnsafe(this.length);
      this.copyTo(this.#bytes, 0);
    }
    return this.#bytes;
  }
}
