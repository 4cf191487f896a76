/** The parts of the ws package that its type declarations leave out, and the check that they are there. */
import { Socket } from 'node:net';
import { MillraceError, show } from '@millrace/base/errors';
// biome-ignore lint/suspicious/noTsIgnore: where it is installed, there is no error to expect
/** @ts-ignore: ws is optional, and without it `any` stands in */
import type { WebSocket } from 'ws';
import type { WriteCallback } from './wire.js';

export type { WebSocket };

/** `WebSocket` of the ws package, or a class derived from it. */
export type WebSocketClass = new (...args: never[]) => WebSocket;

/** A frame as ws writes it: its header, and its payload if there is one. */
export type FrameParts = readonly (Buffer | string)[];

/** Encoder and writer of one socket's frames: `ws._sender`. */
export interface Sender {
  readonly _socket: unknown;
  readonly _firstFragment: boolean;
  /** 0, or why frames have to wait: compression, a Blob. Releases before 8.18 say `_deflating`. */
  readonly _state?: number;
  readonly _deflating?: boolean;
  send(data: unknown, options: SendOptions, callback?: unknown): void;
  sendFrame(parts: FrameParts, callback?: WriteCallback): void;
}

export interface SendOptions {
  readonly binary?: boolean;
  readonly compress?: boolean;
  readonly fin?: boolean;
  readonly mask?: boolean;
}

export interface SenderClass {
  readonly prototype: Sender;
  frame(data: Buffer, options: SendOptions & { opcode: number }): FrameParts;
}

/** In Bun, importing ws gives something else. */
const hint =
  'bun' in process.versions
    ? ', for which Bun has a class of its own; Rooms works with it'
    : ": import WebSocket from 'ws'";

/** The class of ws itself, from which `WebSocket` may be derived. `WebSocket` has passed {@link checkClass}. */
export function baseClass(WebSocket: WebSocketClass): WebSocketClass {
  return baseOf(WebSocket) as unknown as WebSocketClass;
}

/** The class of senders. Throws MILLRACE_E_INVALID_ARGUMENT unless it works as in versions 6.2.1 to 8 of ws. */
export function checkClass(WebSocket: unknown): SenderClass {
  const Sender = senderClass(WebSocket);
  if (Sender !== null) return Sender;
  const name = typeof WebSocket === 'function' && WebSocket.name;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the class is ${name || show(WebSocket)}; it must be WebSocket of the ws package, version 6.2.1 to 8, or derived from it${hint}`,
  );
}

function senderClass(WebSocket: unknown): SenderClass | null {
  const Base = baseOf(WebSocket);
  if (Base === null) return null;
  try {
    // Not every way to import ws shows the class of its senders, but each open socket has one.
    const ws = new Base(null, undefined, {});
    ws.setSocket(new Socket(), Buffer.alloc(0), {});
    const sender = ws._sender;
    ws.terminate();
    const Sender = sender.constructor as unknown as SenderClass;
    return worksAsKnown(sender, Sender) ? Sender : null;
  } catch {
    return null;
  }
}

/**
 * Reports whether the frames of an open socket can be gathered: those of versions 6.2.1 to 8 of ws. Makes no socket, and
 * changes nothing.
 */
export function isGathered(ws: { readonly _sender?: Sender }): boolean {
  const Base = baseOf(ws.constructor);
  const sender = ws._sender;
  if (Base === null || sender === undefined) return false;
  try {
    return worksAsKnown(sender, sender.constructor as unknown as SenderClass);
  } catch {
    return false;
  }
}

/** A server's socket, which is made first and gets its stream later. */
interface BaseClass {
  new (
    address: null,
    protocols: undefined,
    options: object,
  ): {
    readonly _sender: Sender;
    setSocket(socket: object, head: Buffer, options: object): void;
    terminate(): void;
  };
  readonly prototype: object;
}

/** The class of ws itself, from which others may be derived. */
function baseOf(WebSocket: unknown): BaseClass | null {
  let candidate: unknown = WebSocket;
  while (typeof candidate === 'function') {
    const { prototype } = candidate as Partial<BaseClass>;
    if (prototype !== undefined && Object.hasOwn(prototype, 'setSocket')) {
      return candidate as unknown as BaseClass;
    }
    candidate = Object.getPrototypeOf(candidate);
  }
  return null;
}

function worksAsKnown(sender: Sender, Sender: SenderClass): boolean {
  const parts = Sender.frame(Buffer.from('a'), { fin: true, opcode: 1, mask: false });
  return (
    Object.hasOwn(Sender.prototype, 'send') &&
    Object.hasOwn(Sender.prototype, 'sendFrame') &&
    isAtRest(sender) &&
    // Older releases make small frames in one piece, and write those of two without corking.
    parts.length === 2 &&
    Buffer.concat(parts as Buffer[]).equals(Buffer.from([0x81, 1, 0x61]))
  );
}

/** Neither in the middle of a fragmented message, nor of something that has to go first. */
export function isAtRest(sender: Sender): boolean {
  return sender._firstFragment && !sender._state && !sender._deflating;
}
