/**
 * Coalesced socket. Everything is done with `cork()` and `uncork()` of the stream, on this socket alone: what is held
 * is in the stream's own buffer, in order with everything else, and its callbacks, errors and end are the stream's.
 */
import type { Socket } from 'node:net';
import { captureContext, runInContext } from '@millrace/base/context';
import { type Patch, patchMethod, patchReads } from '@millrace/base/patch';
import { announce } from '@millrace/base/sources';
import { isExiting, joinTurn, listenForExit, type TurnMember } from './turn.js';

/** Options of `coalesce()`. */
export interface CoalesceOptions {
  /**
   * Held bytes, as `writableLength` counts them, that leave before the end of the turn: 1 to 2^53 - 1. Default, and the most
   * it can be: the socket's `writableHighWaterMark`.
   */
  maxPendingBytes?: number;
}

/** Counters that `Coalescer.stats()` returns. */
export interface CoalesceStats {
  /** Calls of `write()`. */
  writes: number;
  /** Writes among these that were held. The writes under one `cork()` of the application count as one. */
  coalesced: number;
  /** Flushes of held writes: `coalesced - flushes` writes were saved. */
  flushes: number;
}

/** Handle that `coalesce()` returns. */
export interface Coalescer {
  /** Writes the held data now. */
  flush(): void;
  /** Writes the held data and restores the socket's own methods. Idempotent. */
  off(): void;
  /** A snapshot. */
  stats(): CoalesceStats;
}

/** Totals of all sockets, including those that are gone. */
const totals: CoalesceStats = { writes: 0, coalesced: 0, flushes: 0 };
announce('coalesce', totals, (each) => ({ ...each }));

type Method = (this: Socket, ...args: unknown[]) => unknown;

export class SocketCoalescer implements Coalescer, TurnMember {
  readonly #socket: Socket;
  readonly #maxPendingBytes: number;
  readonly #onOff: () => void;
  readonly #patches: readonly Pick<Patch, 'undo'>[];
  readonly #write: Method;
  readonly #uncork: Method;
  #on = true;
  /** Something has already left in this turn: what follows can wait for its end. */
  #open = false;
  /** True if one of the socket's corks is ours. */
  #held = false;
  #ending = false;
  #writes = 0;
  #coalesced = 0;
  #flushes = 0;

  constructor(socket: Socket, maxPendingBytes: number, onOff: () => void) {
    this.#socket = socket;
    this.#maxPendingBytes = maxPendingBytes;
    this.#onOff = onOff;
    const { write, uncork } = socket as unknown as Record<'write' | 'uncork', Method>;
    this.#write = write;
    this.#uncork = uncork;
    listenForExit();
    const onWrite = (chunk: unknown, encoding: unknown, callback: unknown) =>
      this.#onWrite(chunk, encoding, callback);
    const writing = patchMethod(socket, 'write', () => onWrite);
    this.#patches = [
      writing,
      patchMethod(socket, 'uncork', () => () => this.#onUncork()),
      patchMethod(socket, 'end', (end) => (...args: unknown[]) => {
        this.#release();
        // `end()` uncorks for good by `uncork()`, which must not hold anything now.
        this.#ending = true;
        try {
          return Reflect.apply(end, socket, args);
        } finally {
          this.#ending = false;
        }
      }),
      patchMethod(socket, 'destroy', (destroy) => (...args: unknown[]) => {
        this.#release();
        return Reflect.apply(destroy, socket, args);
      }),
      patchMethod(socket, 'connect', (connect) => (...args: unknown[]) => {
        // It gives a socket the `write` of its prototype.
        const connected = Reflect.apply(connect, socket, args);
        if (this.#on) writing.apply();
        return connected;
      }),
      // `child.send()` takes the handle out of a socket, without a call that could be replaced; before that it reads this.
      patchReads(socket, 'server', () => this.#release()),
    ];
  }

  flush(): void {
    this.#release();
  }

  off(): void {
    if (!this.#on) return;
    this.#release();
    this.#on = false;
    for (const patch of this.#patches) patch.undo();
    this.#onOff();
  }

  stats(): CoalesceStats {
    return { writes: this.#writes, coalesced: this.#coalesced, flushes: this.#flushes };
  }

  endTurn(): void {
    this.#open = false;
    this.#release();
  }

  #onWrite(chunk: unknown, encoding: unknown, callback: unknown): unknown {
    const socket = this.#socket;
    if (!this.#on) return this.#write.call(socket, chunk, encoding, callback);
    this.#writes++;
    totals.writes++;
    // The application's own cork: what it gathers counts when it is uncorked.
    const corked = this.#otherCorks > 0;
    if (corked || !this.#open || !this.#canTake(sizeOf(chunk))) {
      if (!corked) this.#openTurn();
      return this.#write.call(socket, chunk, encoding, callback);
    }
    this.#hold();
    const taken = this.#write.call(socket, chunk, keepContext(encoding), keepContext(callback));
    this.#coalesced++;
    totals.coalesced++;
    this.#releaseIfFull();
    return taken;
  }

  #onUncork(): unknown {
    const socket = this.#socket;
    const corks = this.#otherCorks;
    // One `uncork()` too many does nothing to a stream; it must not end our cork.
    if (corks === 0 && this.#held) return;
    if (this.#on && corks === 1 && !this.#ending && socket.writableLength > 0) {
      if (!this.#open) {
        this.#openTurn();
      } else if (this.#held || (this.#mayHold() && this.#fits(0))) {
        this.#hold();
        this.#coalesced++;
        totals.coalesced++;
      }
    }
    this.#uncork.call(socket);
    this.#releaseIfFull();
  }

  /** Corks of others. */
  get #otherCorks(): number {
    return this.#socket.writableCorked - (this.#held ? 1 : 0);
  }

  #openTurn(): void {
    if (this.#open || isExiting()) return;
    this.#open = true;
    joinTurn(this);
  }

  /**
   * Reports whether this many bytes may be held besides what is held already, which leaves if it is in the way. At the
   * high-water mark the stream would return false: a socket that keeps up has to return it for the same writes as without us.
   */
  #canTake(bytes: number): boolean {
    if (this.#held) {
      if (this.#fits(bytes)) return true;
      this.#release();
    }
    // What the kernel has not taken waits in the stream, which by itself gathers what comes after.
    return this.#socket.writableLength === 0 && this.#mayHold() && this.#fits(bytes);
  }

  #mayHold(): boolean {
    // A 'drain' that is due comes when nothing is left in the stream: what we hold must not delay it.
    return !this.#socket.writableNeedDrain && !isExiting();
  }

  #fits(bytes: number): boolean {
    const { writableLength, writableHighWaterMark } = this.#socket;
    return writableLength + bytes < writableHighWaterMark;
  }

  #releaseIfFull(): void {
    if (this.#socket.writableLength >= this.#maxPendingBytes || !this.#fits(0)) this.#release();
  }

  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.cork();
  }

  #release(): void {
    if (!this.#held) return;
    const socket = this.#socket;
    // A cork of the application lies over what we hold, and may stay for longer than the turn.
    const others = this.#otherCorks;
    this.#held = false;
    this.#flushes++;
    totals.flushes++;
    for (let corks = others; corks >= 0; corks--) this.#uncork.call(socket);
    for (let corks = others; corks > 0; corks--) socket.cork();
  }
}

/** The size as the stream counts it: a string by its characters. NaN, which fits nowhere, for what it will refuse. */
function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return chunk.length;
  return ArrayBuffer.isView(chunk) ? chunk.byteLength : Number.NaN;
}

/** The callback of a held write runs in the context of that write, as that of any other does. */
function keepContext(argument: unknown): unknown {
  if (typeof argument !== 'function') return argument;
  const context = captureContext('auto');
  if (context === null) return argument;
  const callback = argument as (error: unknown) => void;
  return (error: unknown) => runInContext(context, callback, error);
}
