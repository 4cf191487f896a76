/**
 * Frames that WebSockets of the ws package send in one turn. Each copy of ws is found when it sets up a socket: it calls
 * `setNoDelay()` on it, after it has left the WebSocket there under a symbol.
 */
import { Socket } from 'node:net';
import { isUint8Array } from '../core/realm.cjs';
import type { Observer } from './observer.js';
import { replace } from './replace.js';
import { isOwn, serverOf } from './sockets.js';
import { atTurnEnd } from './turn-end.js';

/** Messages of WebSockets, and what encoding and sending them together would save. */
export interface FramesReport {
  /** WebSockets of servers that were seen. */
  sockets: number;
  /** Messages that `ws` can gather: whole, not compressed, sent by a server. */
  frames: number;
  /** Turns of the loop with such frames. */
  turns: number;
  /** Different contents, turn by turn: what has to be encoded. */
  contents: number;
  /** Sockets that were sent to, turn by turn: writes that remain. */
  writes: number;
  /** Frames left to `ws`: of clients, compressed, in fragments, pings. */
  others: number;
}

type Parts = readonly (string | Uint8Array)[];

interface Sender {
  readonly _socket?: unknown;
  sendFrame(parts: Parts, ...rest: unknown[]): unknown;
}

/** More bytes than these are encoded again rather than compared. */
const maxCopied = 16 * 1024;

export class FramesObserver implements Observer<FramesReport> {
  /** A frame that was counted is being written. */
  isSending = false;
  readonly #known = new Set<object>();
  readonly #contents = new Set<string | Uint8Array>();
  readonly #sockets = new Set<unknown>();
  readonly #counts = { sockets: 0, frames: 0, turns: 0, contents: 0, writes: 0, others: 0 };
  #undo: (() => void)[] = [];
  #isOn = false;

  start(): void {
    const observer = this;
    this.#isOn = true;
    this.#undo = [
      replace(Socket.prototype, 'setNoDelay', (original) => {
        return function setNoDelay(this: Socket, ...args: unknown[]) {
          if (observer.#isOn) observer.#look(this);
          return Reflect.apply(original, this, args);
        };
      }),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const undo of this.#undo.splice(0)) undo();
    this.#known.clear();
    this.#endTurn();
  }

  read(): FramesReport {
    return { ...this.#counts };
  }

  #look(socket: Socket): void {
    const sender = senderOf(socket);
    if (sender === null || isOwn(socket)) return;
    if (serverOf(socket) !== null) this.#counts.sockets++;
    const prototype = Object.getPrototypeOf(sender) as object;
    if (this.#known.has(prototype)) return;
    this.#known.add(prototype);
    this.#undo.push(this.#replaceSend(prototype));
  }

  #replaceSend(prototype: object): () => void {
    const observer = this;
    return replace(prototype, 'sendFrame', (original) => {
      return function sendFrame(this: Sender, ...args: unknown[]) {
        if (!observer.#isOn || !observer.#note(this, args[0] as Parts)) {
          return Reflect.apply(original, this, args);
        }
        observer.isSending = true;
        try {
          return Reflect.apply(original, this, args);
        } finally {
          observer.isSending = false;
        }
      };
    });
  }

  /** Whether the frame is one that can be gathered. */
  #note(sender: Sender, parts: Parts): boolean {
    const counts = this.#counts;
    if (!isGathered(sender, parts)) {
      counts.others++;
      return false;
    }
    counts.frames++;
    if (this.#sockets.size === 0) atTurnEnd(this.#endTurn);
    this.#contents.add(parts[1] ?? '');
    this.#sockets.add(sender._socket);
    return true;
  }

  readonly #endTurn = (): void => {
    if (this.#sockets.size === 0) return;
    this.#counts.turns++;
    this.#counts.contents += this.#contents.size;
    this.#counts.writes += this.#sockets.size;
    this.#contents.clear();
    this.#sockets.clear();
  };
}

function senderOf(socket: Socket): Sender | null {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    if (symbol.description !== 'websocket') continue;
    const ws = (socket as unknown as Record<symbol, { _sender?: Sender } | undefined>)[symbol];
    return typeof ws?._sender?.sendFrame === 'function' ? ws._sender : null;
  }
  return null;
}

/** A whole message of a server, not compressed, on a socket whose `write` is its own. */
function isGathered({ _socket }: Sender, parts: Parts): boolean {
  if (!Array.isArray(parts) || !(_socket instanceof Socket) || Object.hasOwn(_socket, 'write')) {
    return false;
  }
  const [header, payload] = parts as Parts;
  return (
    isUint8Array(header) &&
    (header[0] === 0x81 || header[0] === 0x82) &&
    header[1]! < 0x80 &&
    (typeof payload === 'string' || (payload?.length ?? 0) <= maxCopied)
  );
}
