/** A message on its way to many sockets: encoded once, whoever gets it. */
import * as wsPackage from 'ws';
import type { Chunk } from '../core/egress/backlog.js';
import type { PriorityClass } from '../core/intake/priority.js';
import { MillraceError, show } from '../errors.js';
import type { Member } from './member.js';

/** The part of the ws package that writes frames; exported there, but missing in its type declarations. */
interface FrameWriter {
  frame(data: Buffer, options: Record<string, unknown>): Buffer[];
}
const { Sender } = wsPackage as unknown as { Sender: FrameWriter };

/** What can be sent as a message: text as a string, anything else as binary. */
export type Data = string | Buffer | ArrayBuffer | ArrayBufferView;

export class Frame implements Chunk {
  /** The payload alone, for sockets that compress: those encode for themselves. */
  readonly payload: Buffer;
  readonly binary: boolean;
  /** The whole WebSocket frame. A copy, so that the caller's buffer can be used again right away. */
  readonly data: Buffer;
  readonly priority: PriorityClass;
  /** The one member that does not get it. */
  readonly except: Member | null;
  /** Arrival number; decides what a member that joined or left meanwhile gets. */
  seq = 0;
  /** Place in the batch it leaves in: the order among frames of different rooms. */
  place = 0;

  constructor(data: Data, binary: boolean, priority: PriorityClass, except: Member | null) {
    const payload = toBuffer(data);
    this.data = Buffer.concat(
      Sender.frame(payload, {
        fin: true,
        rsv1: false,
        mask: false,
        readOnly: true,
        opcode: binary ? 2 : 1,
      }),
    );
    this.payload = this.data.subarray(this.data.length - payload.length);
    this.binary = binary;
    this.priority = priority;
    this.except = except;
  }
}

function toBuffer(data: Data): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  if (Buffer.isBuffer(data)) return data;
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `a message is ${show(data)}; it must be a string, a Buffer, a typed array or an ArrayBuffer`,
  );
}

/** Several frames as the bytes of one write. */
export function join(frames: readonly Frame[]): Buffer {
  return frames.length === 1 ? frames[0]!.data : Buffer.concat(frames.map((frame) => frame.data));
}
