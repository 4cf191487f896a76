/**
 * Frames that WebSockets of the ws package send in one turn. Each copy of ws is found when it sets up a socket: it calls
 * `setNoDelay()` on it, after it has left the WebSocket there under a symbol.
 */
import { Socket } from 'node:net';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { isUint8Array } from '@millrace/base/realm';
import { atTurnEnd } from '@millrace/base/turn';
import { isOwn, serverOf } from '../../auto/sockets.cjs';
import { isGathered as isClassGathered, type Sender as WsSender } from '../../ws/ws-class.js';

/** Messages of WebSockets, and the savings from encoding and sending them together. */
export interface FramesReport {
  /** Server-side WebSockets, of any version of the ws package. */
  sockets: number;
  /** Messages that `ws` can merge: of versions 6 to 8 of the package, whole, not compressed, sent by a server. */
  frames: number;
  /** Turns of the loop with such frames. */
  turns: number;
  /** Different contents, turn by turn: frames that have to be encoded. */
  contents: number;
  /** Receiving sockets, turn by turn: writes that remain. */
  writes: number;
  /** Frames in turns in which each socket got one frame, all with different contents: they cannot be merged. */
  lone: number;
  /** Most frames to one socket in a turn. */
  mostOnSocket: number;
  /** Frames left to `ws`: of clients, compressed, in fragments, pings. */
  others: number;
}

type Parts = readonly (string | Uint8Array)[];

interface Sender {
  readonly _socket?: unknown;
  sendFrame(parts: Parts, ...rest: unknown[]): unknown;
}

/** Most bytes that are compared; more are encoded again. */
const maxCopied = 16 * 1024;

export class FramesObserver {
  /** A frame that was counted is being written. */
  isSending = false;
  readonly #known = new Set<object>();
  readonly #contents = new Contents();
  /** Frames of this turn by socket. */
  readonly #sockets = new Map<unknown, number>();
  #framesInTurn = 0;
  readonly #counts = {
    ...{ sockets: 0, frames: 0, turns: 0, contents: 0, writes: 0, others: 0 },
    ...{ lone: 0, mostOnSocket: 0 },
  };
  #patches: Patch[] = [];
  #isOn = false;

  start(): void {
    const observer = this;
    this.#isOn = true;
    this.#patches = [
      patchMethod(Socket.prototype, 'setNoDelay', (original) => {
        return function setNoDelay(this: Socket, ...args: unknown[]) {
          if (observer.#isOn) observer.#look(this);
          return Reflect.apply(original, this, args);
        };
      }),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
    this.#known.clear();
    this.#endTurn();
  }

  get count(): number {
    const { sockets, frames, others } = this.#counts;
    return sockets + frames + others;
  }

  read(): FramesReport {
    return { ...this.#counts };
  }

  #look(socket: Socket): void {
    const ws = webSocketOf(socket);
    if (ws === null || isOwn(socket)) return;
    if (serverOf(socket) !== null) this.#counts.sockets++;
    const prototype = Object.getPrototypeOf(ws._sender) as object;
    if (this.#known.has(prototype)) return;
    this.#known.add(prototype);
    if (isClassGathered(ws)) this.#patches.push(this.#patchSend(prototype));
  }

  #patchSend(prototype: object): Patch {
    const observer = this;
    return patchMethod(prototype, 'sendFrame', (original) => {
      return function sendFrame(this: Sender, ...args: unknown[]) {
        if (!observer.#isOn || !observer.#countFrame(this, args[0] as Parts)) {
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

  /** Reports whether the frame is one that can be gathered. */
  #countFrame(sender: Sender, parts: Parts): boolean {
    const counts = this.#counts;
    if (!isGathered(sender, parts)) {
      counts.others++;
      return false;
    }
    counts.frames++;
    if (this.#sockets.size === 0) atTurnEnd(this.#endTurn);
    this.#contents.add(parts);
    this.#framesInTurn++;
    const onSocket = (this.#sockets.get(sender._socket) ?? 0) + 1;
    this.#sockets.set(sender._socket, onSocket);
    counts.mostOnSocket = Math.max(counts.mostOnSocket, onSocket);
    return true;
  }

  readonly #endTurn = (): void => {
    const frames = this.#framesInTurn;
    if (frames === 0) return;
    const counts = this.#counts;
    counts.turns++;
    counts.contents += this.#contents.size;
    counts.writes += this.#sockets.size;
    if (this.#contents.size === frames && this.#sockets.size === frames) counts.lone += frames;
    this.#framesInTurn = 0;
    this.#contents.clear();
    this.#sockets.clear();
  };
}

/** The contents of one turn. The same Buffer may hold other bytes by the next frame, and another Buffer the same. */
class Contents {
  readonly #keys = new Set<string>();
  /** The last one: a message usually goes to one socket after another. */
  #isText = false;
  #last: string | Buffer | null = null;

  get size(): number {
    return this.#keys.size;
  }

  add(parts: Parts): void {
    const isText = (parts[0] as Uint8Array)[0] === 0x81;
    const payload = parts[1] ?? '';
    if (isText === this.#isText && this.#isLast(payload)) return;
    const bytes = typeof payload === 'string' ? null : Buffer.from(payload);
    this.#isText = isText;
    this.#last = bytes ?? (payload as string);
    const text = bytes === null ? (payload as string) : bytes.toString(isText ? 'utf8' : 'latin1');
    this.#keys.add(`${isText ? 't' : 'b'}${text}`);
  }

  #isLast(payload: string | Uint8Array): boolean {
    const last = this.#last;
    if (typeof payload === 'string' || typeof last === 'string') return payload === last;
    return last?.equals(payload) ?? false;
  }

  clear(): void {
    this.#keys.clear();
    this.#last = null;
  }
}

function webSocketOf(socket: Socket): { readonly _sender: WsSender } | null {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    if (symbol.description !== 'websocket') continue;
    const ws = (socket as unknown as Record<symbol, { _sender?: WsSender } | undefined>)[symbol];
    return typeof ws?._sender?.sendFrame === 'function' ? (ws as { _sender: WsSender }) : null;
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
