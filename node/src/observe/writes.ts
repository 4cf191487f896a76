/**
 * Writes of one turn on the same socket. What is counted are the calls in which a stream hands data to its handle: a system
 * call each. Data that was corked, and what a full socket has kept waiting, is one such call already.
 */
import { Socket } from 'node:net';
import type { Observer } from './observer.js';
import { replace } from './replace.js';
import { isOwn } from './sockets.js';
import { atTurnEnd } from './turn-end.js';

export interface WritesReport {
  /** Writes to sockets that `net` can gather for: not TLS, not the streams of `process`, no frames that `ws` gathers. */
  writes: number;
  /** Turns of the loop with such writes. */
  turns: number;
  /** On one socket in one turn, at most. */
  mostInTurn: number;
  /** Writes that `net` would have saved: in each turn the first leaves at once, and the others leave together. */
  saved: number;
}

/** What `net` would hold for a socket in this turn. */
interface Held {
  writes: number;
  heldWrites: number;
  heldBytes: number;
}

type Standard = { encrypted?: unknown; isTTY?: unknown; fd?: unknown };
type Chunks = readonly { readonly chunk: string | Uint8Array }[];

export class WritesObserver implements Observer<WritesReport> {
  readonly #isSendingFrame: () => boolean;
  /** Sockets written to in this turn; null for those with one write so far. */
  readonly #turn = new Map<Socket, Held | null>();
  readonly #counts: WritesReport = { writes: 0, turns: 0, mostInTurn: 0, saved: 0 };
  #undo: (() => void)[] = [];
  #isOn = false;

  /** `isSendingFrame` says whether the write is one of a frame that is counted as such. */
  constructor(isSendingFrame: () => boolean) {
    this.#isSendingFrame = isSendingFrame;
  }

  start(): void {
    const observer = this;
    this.#isOn = true;
    this.#undo = [
      replace(Socket.prototype, '_write', (original) => {
        return function _write(this: Socket, chunk: string | Uint8Array, ...rest: unknown[]) {
          if (observer.#isOn) observer.#note(this, chunk.length);
          return Reflect.apply(original, this, [chunk, ...rest]);
        };
      }),
      replace(Socket.prototype, '_writev', (original) => {
        return function _writev(this: Socket, chunks: Chunks, ...rest: unknown[]) {
          if (observer.#isOn) observer.#noteAll(this, chunks);
          return Reflect.apply(original, this, [chunks, ...rest]);
        };
      }),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const undo of this.#undo.splice(0)) undo();
    this.#endTurn();
  }

  read(): WritesReport {
    return { ...this.#counts };
  }

  #noteAll(socket: Socket, chunks: Chunks): void {
    let bytes = 0;
    for (const { chunk } of chunks) bytes += chunk.length;
    this.#note(socket, bytes);
  }

  #note(socket: Socket, bytes: number): void {
    if (this.#isSendingFrame() || !isTaken(socket)) return;
    this.#counts.writes++;
    const turn = this.#turn;
    if (turn.size === 0) atTurnEnd(this.#endTurn);
    const held = turn.get(socket);
    if (held === undefined) {
      turn.set(socket, null);
      return;
    }
    if (held !== null) this.#hold(socket, held, bytes);
    else {
      const second = { writes: 1, heldWrites: 0, heldBytes: 0 };
      turn.set(socket, second);
      this.#hold(socket, second, bytes);
    }
  }

  /** As a coalesced socket does: nothing is held beyond the high-water mark. */
  #hold(socket: Socket, held: Held, bytes: number): void {
    held.writes++;
    const most = socket.writableHighWaterMark;
    if (held.heldBytes + bytes >= most) this.#flush(held);
    if (bytes >= most) return;
    held.heldWrites++;
    held.heldBytes += bytes;
  }

  #flush(held: Held): void {
    if (held.heldWrites > 1) this.#counts.saved += held.heldWrites - 1;
    held.heldWrites = 0;
    held.heldBytes = 0;
  }

  readonly #endTurn = (): void => {
    const counts = this.#counts;
    if (this.#turn.size === 0) return;
    counts.turns++;
    if (counts.mostInTurn === 0) counts.mostInTurn = 1;
    for (const held of this.#turn.values()) {
      if (held === null) continue;
      if (held.writes > counts.mostInTurn) counts.mostInTurn = held.writes;
      this.#flush(held);
    }
    this.#turn.clear();
  };
}

function isTaken(socket: Socket): boolean {
  const { encrypted, isTTY, fd } = socket as Standard;
  return encrypted !== true && isTTY !== true && typeof fd !== 'number' && !isOwn(socket);
}
