/** What one WebSocket has sent in this turn, until it leaves at the end of it. */
import type { Socket } from 'node:net';
import type { Rate } from '../core/batch/policy.js';
import { captureContext, runInContext } from '../core/dispatch/context.js';
import { nextTick } from '../core/timers.cjs';
import { nothing, type Sequence } from './sequence.js';
import type { Receiver } from './volley.js';
import type { Holder, Wire, WriteCallback } from './wire.js';

/** Who writes what outboxes have gathered, and is told how that went. */
interface OutboxOwner {
  readonly counters: { writes: number };
  observed(outbox: Outbox): void;
  write(wire: Wire, bytes: Buffer, callback: WriteCallback | undefined): void;
  wrote(socket: Socket, callbacks: readonly WriteCallback[]): void;
  over(callbacks: readonly WriteCallback[]): void;
}

export class Outbox implements Holder, Receiver<Sequence> {
  readonly gatherer: OutboxOwner;
  readonly wire: Wire;
  /** The frames so far. */
  sequence: Sequence = nothing;
  /** Is in the list of those that have something to send. */
  listed = false;
  /** Frames per ms, and how many of `sequence` it knows of; kept only where frames may be held. */
  readonly rate: Rate = { value: 0, at: 0 };
  counted = 0;
  /** The last turn in which the socket sent, and its frames in it. Kept, like `gathers`, by the transparent gatherer only. */
  turn = 0;
  turnFrames = 0;
  /** Whether further frames of this turn wait for its end. */
  gathers = false;
  #callbacks: WriteCallback[] | null = null;

  constructor(gatherer: OutboxOwner, wire: Wire) {
    this.gatherer = gatherer;
    this.wire = wire;
  }

  /** `callback` will be called when what has been added until now is written. */
  notify(callback: WriteCallback): void {
    if (this.#callbacks === null) this.#callbacks = [callback];
    else this.#callbacks.push(callback);
  }

  observed(): void {
    this.gatherer.observed(this);
  }

  /** Writes what is kept back to the stream. Never throws: a socket whose write fails harms no other. */
  release(): void {
    const { sequence } = this;
    if (sequence === nothing) return;
    const { socket } = this.wire;
    const callbacks = this.#taken();
    const callback = once(asOne(callbacks));
    this.gatherer.counters.writes++;
    try {
      this.gatherer.write(this.wire, sequence.bytes(), callback);
      if (callbacks !== null) this.gatherer.wrote(socket, callbacks);
    } catch (error) {
      // Somebody has replaced `write`. Nobody knows how much of the data left.
      socket.destroy(error as Error);
      if (callback !== undefined) nextTick(callback, error as Error);
    }
  }

  sent(result: number, content: Sequence): void {
    const callbacks = this.#taken();
    this.gatherer.counters.writes++;
    if (callbacks === null) this.wire.settle(result, content);
    else if (this.wire.settle(result, content, asOne(callbacks))) this.gatherer.over(callbacks);
    else this.gatherer.wrote(this.wire.socket, callbacks);
  }

  /** Nothing is kept back any longer. */
  #taken(): WriteCallback[] | null {
    const callbacks = this.#callbacks;
    this.#callbacks = null;
    this.sequence = nothing;
    this.counted = 0;
    this.wire.holder = null;
    return callbacks;
  }
}

/** The callback, to be called in the async context of this call. */
export function inContext(callback: WriteCallback): WriteCallback {
  const context = captureContext('auto');
  return context === null ? callback : (error) => runInContext(context, callback, error);
}

/** The replacement of `write` may have called back before it threw. */
function once(callback: WriteCallback | undefined): WriteCallback | undefined {
  if (callback === undefined) return undefined;
  let isDue = true;
  return (error) => {
    if (!isDue) return;
    isDue = false;
    callback(error);
  };
}

/** Several callbacks as that of one write. */
function asOne(callbacks: WriteCallback[] | null): WriteCallback | undefined {
  if (callbacks === null) return undefined;
  if (callbacks.length === 1) return callbacks[0];
  return (error) => callAll(callbacks, error);
}

/** Calls all of them, each as from a tick of its own: one that throws does not keep the others from being called. */
export function callAll(callbacks: readonly WriteCallback[], error?: Error | null): void {
  let next = 0;
  try {
    while (next < callbacks.length) callbacks[next++]!(error);
  } finally {
    if (next < callbacks.length) nextTick(callAll, callbacks.slice(next), error);
  }
}
