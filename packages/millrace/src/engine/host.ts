/**
 * Source of an engine's time and dispatch points, and their places in Node's loop. One file, so that every queue used is
 * named here.
 */
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { afterMicrotasks, atTurnEnd } from '@millrace/base/turn';
import { Utilization } from './policy.js';
import type { Tick } from './queue.js';

/** Services that an engine needs. */
export interface Host {
  /** Time in ms; may be read once and kept for the rest of a loop turn. */
  now(): number;
  /** Time for an event that is pushed: one object for all events of that time. */
  tick(): Tick;
  /** Asks for one call of `turn()` at the dispatch point. */
  schedule(): void;
  /** Asks for one call of `holdEnded()` at this time; replaces the last request. `null` takes it back. */
  arm(deadlineMs: number | null): void;
  /** Time in ms, read anew: to measure how long something takes. */
  clock(): number;
  /** Busy share of the loop, 0 to 1. Asked only under `adaptive` with a `maxDelay`. */
  utilization(now: number): number;
  /** ms that the loop has been busy since it started. */
  busy(): number;
  /** ms that holding a batch costs. */
  readonly holdCost: number;
}

/** Engine, as its host calls it. */
interface Hosted {
  turn(): void;
  holdEnded(): void;
}

/** Busy share of this thread's loop. Sampled when a policy asks, never by a timer: an idle loop stays idle. */
class LoopUtilization {
  readonly #window = new Utilization(performance.now());
  #at = performance.now();
  #active = performance.eventLoopUtilization().active;

  read(now: number): number {
    // A sample a ms is plenty for slices of 25 ms.
    if (!(now >= this.#at && now - this.#at < 1)) {
      const { active } = performance.eventLoopUtilization();
      this.#window.observe(this.#at, now, active - this.#active);
      this.#at = now;
      this.#active = active;
    }
    return this.#window.read(now);
  }
}

let loopUtilization: LoopUtilization | null = null;

/** Cost of a timer that is set, fires and is taken back, and of a turn of the loop for it: about 0.05 ms on a busy server. */
const holdCostMs = 0.05;

/** Base of both hosts: a clock that is read once per turn, and the timer of a hold. */
abstract class NodeHost implements Host {
  #engine!: Hosted;
  #scheduled = false;
  /** Time of this turn. Kept only while a call of `turn` is on its way, which ends its validity. */
  #tick: Tick | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly holdCost = holdCostMs;

  /** The engine is made with its host, so it is made known here afterwards. */
  attach(engine: Hosted): void {
    this.#engine = engine;
  }

  now(): number {
    return this.tick().time;
  }

  tick(): Tick {
    return this.#tick ?? this.#read();
  }

  /** Apart from `tick`: a push asks for it, and with this inside, the compiler would no longer inline all of a push. */
  #read(): Tick {
    const tick = { time: performance.now() };
    if (this.#scheduled) this.#tick = tick;
    return tick;
  }

  schedule(): void {
    this.#scheduled = true;
    this.defer(this.#turn);
  }

  /** Puts `turn` at the dispatch point. */
  protected abstract defer(turn: () => void): void;

  readonly #turn = (): void => {
    this.#scheduled = false;
    this.#tick = { time: performance.now() };
    this.#engine.turn();
    this.#tick = null;
  };

  arm(deadlineMs: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (deadlineMs === null) return;
    // The timer keeps the process alive: events are waiting for it.
    this.#timer = setTimeout(this.#holdEnded, Math.max(1, Math.ceil(deadlineMs - this.now())));
  }

  readonly #holdEnded = (): void => {
    this.#timer = null;
    this.#tick = null;
    this.#engine.holdEnded();
  };

  clock(): number {
    return performance.now();
  }

  busy(): number {
    return performance.eventLoopUtilization().active;
  }

  utilization(now: number): number {
    loopUtilization ??= new LoopUtilization();
    return loopUtilization.read(now);
  }
}

/**
 * Flush at the end of the current loop turn: `setImmediate`, the check phase, right after the poll phase in which reads
 * and their callbacks ran. nextTick and the microtask queue are too early for anything fed by sockets, because Node
 * empties both after every single callback, and a batch would never hold more than one read's events.
 */
export class TurnHost extends NodeHost {
  protected defer(turn: () => void): void {
    atTurnEnd(turn);
  }
}

/**
 * Flush when the microtask queue of this tick is empty: a promise job first, so that all jobs queued so far run and may
 * add their calls; then nextTick, which Node takes up again once the microtask queue has drained. For calls that an
 * application makes from promises, where the end of the loop turn would add latency for nothing.
 */
export class MicrotaskHost extends NodeHost {
  protected defer(turn: () => void): void {
    afterMicrotasks(turn);
  }
}
