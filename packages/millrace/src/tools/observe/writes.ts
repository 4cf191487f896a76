/**
 * Writes of one turn on the same socket. What is counted are the calls in which a stream hands data to its handle: a system
 * call each. Data that was corked, and what a full socket has kept waiting, is one such call already.
 */
import { Socket } from 'node:net';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { atTurnEnd } from '@millrace/base/turn';
import { isPlain } from '../../auto/sockets.cjs';

/** Writes to sockets, and the savings of one write per turn. */
export interface WritesReport {
  /** Writes to sockets that `net` can coalesce: not TLS, not the streams of `process`, no frames that `ws` merges. */
  writes: number;
  /** Turns of the loop with such writes. */
  turns: number;
  /** Most writes on one socket in a turn. */
  mostInTurn: number;
  /** Writes that `net` would have saved: in each turn the first leaves at once, and the others leave together. */
  saved: number;
}

/** Writes that `net` would hold for a socket in a turn. */
interface Held {
  /** The turn in which the socket was written to last. */
  turn: number;
  writes: number;
  heldWrites: number;
  heldBytes: number;
}

type Chunks = readonly { readonly chunk: string | Uint8Array }[];

export class WritesObserver {
  /** Sockets that were written to; null for those that `net` leaves alone. */
  readonly #sockets = new WeakMap<Socket, Held | null>();
  /** Sockets with more than one write in this turn. */
  #held: Held[] = [];
  #turn = 1;
  #isTurnKnown = false;
  readonly #counts: WritesReport = { writes: 0, turns: 0, mostInTurn: 0, saved: 0 };
  #patches: Patch[] = [];
  #isOn = false;

  /** `frames.isSending` says whether a write is one of a frame that is counted as such. */
  constructor(private readonly frames: { readonly isSending: boolean }) {}

  start(): void {
    const observer = this;
    this.#isOn = true;
    // Streams call these with as many arguments as they have.
    this.#patches = [
      patchMethod(Socket.prototype, '_write', (original) => {
        return function _write(
          this: Socket,
          chunk: string | Uint8Array,
          encoding: unknown,
          done: unknown,
        ) {
          const held = observer.#isOn ? observer.#countWrite(this) : null;
          if (held !== null) observer.#hold(held, chunk.length, this.writableHighWaterMark);
          return original.call(this, chunk, encoding, done);
        };
      }),
      patchMethod(Socket.prototype, '_writev', (original) => {
        return function _writev(this: Socket, chunks: Chunks, done: unknown) {
          const held = observer.#isOn ? observer.#countWrite(this) : null;
          if (held !== null) observer.#hold(held, bytesOf(chunks), this.writableHighWaterMark);
          return original.call(this, chunks, done);
        };
      }),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
    this.#endTurn();
  }

  get count(): number {
    return this.#counts.writes;
  }

  read(): WritesReport {
    return { ...this.#counts };
  }

  /** Returns the state of a socket that has been written to in this turn before: `net` would hold this write. */
  #countWrite(socket: Socket): Held | null {
    if (this.frames.isSending) return null;
    let held = this.#sockets.get(socket);
    if (held === undefined) {
      held = isPlain(socket) ? { turn: 0, writes: 0, heldWrites: 0, heldBytes: 0 } : null;
      this.#sockets.set(socket, held);
    }
    if (held === null) return null;
    this.#counts.writes++;
    if (!this.#isTurnKnown) {
      this.#isTurnKnown = true;
      atTurnEnd(this.#endTurn);
    }
    if (held.turn !== this.#turn) {
      held.turn = this.#turn;
      held.writes = 1;
      return null;
    }
    if (held.writes === 1) this.#held.push(held);
    return held;
  }

  /** Like a coalesced socket: nothing is held beyond the high-water mark. */
  #hold(held: Held, bytes: number, most: number): void {
    held.writes++;
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
    if (!this.#isTurnKnown) return;
    const counts = this.#counts;
    this.#isTurnKnown = false;
    this.#turn++;
    counts.turns++;
    if (counts.mostInTurn === 0) counts.mostInTurn = 1;
    if (this.#held.length === 0) return;
    for (const held of this.#held) {
      if (held.writes > counts.mostInTurn) counts.mostInTurn = held.writes;
      this.#flush(held);
    }
    this.#held = [];
  };
}

function bytesOf(chunks: Chunks): number {
  let bytes = 0;
  for (const { chunk } of chunks) bytes += chunk.length;
  return bytes;
}
