/**
 * Forecasts of requests before they run: the cost of one on the loop, the work before it, and its wait. Actual waits correct
 * the predicted ones, per class.
 */
import { type ClassIndex, classNames } from './classes.js';
import type { Route } from './routes.js';
import { costOf, type Extra, type Kind } from './waiting.js';

/** Part of the queue that forecasts use. */
interface Queue {
  workBefore(cls: ClassIndex, kind: Kind | null, extra: Extra): number;
}

/** Ratio of actual to predicted waits: the factor by which predictions are multiplied. */
export class Correction {
  /** Predictions are off by a little rather than by a lot: one odd request must not turn everything away. */
  static readonly min = 0.5;
  static readonly max = 4;
  value = 1;

  /** Learns from a request's actual wait and its predicted one, before correction. */
  learn(actualMs: number, predictedMs: number): void {
    // Short waits depend largely on the grain of slices.
    if (predictedMs < 20) return;
    const ratio = Math.min(Correction.max, Math.max(Correction.min, actualMs / predictedMs));
    this.value += 0.05 * (ratio - this.value);
  }
}

export class Forecast {
  readonly #waiting: Queue;
  readonly #gate: { readonly size: number };
  readonly #time: Extra;
  readonly #corrections: readonly Correction[] = classNames.map(() => new Correction());

  /** `gate` has the number of async requests in progress, `time` the cost of requests beside their handlers. */
  constructor(waiting: Queue, gate: { readonly size: number }, time: Extra) {
    this.#waiting = waiting;
    this.#gate = gate;
    this.#time = time;
  }

  /** Returns the total cost of a route's request on the loop, in ms. */
  costOf(route: Route): number {
    return costOf(route, this.#time);
  }

  /** Returns the work in ms ahead of a request of this class and kind; null: behind all of its class. Requests in progress count half. */
  workBefore(cls: ClassIndex, kind: Kind | null): number {
    const underWayMs = (this.#gate.size * this.#time.asyncMs) / 2;
    return this.#waiting.workBefore(cls, kind, this.#time) + underWayMs;
  }

  /** Returns the wait in ms of a request of this class with so much work ahead of it. */
  waitFor(workMs: number, cls: ClassIndex): number {
    return workMs * this.#corrections[cls]!.value;
  }

  /** Records the wait of a request of this class, and the work ahead of it at its arrival. */
  learn(cls: ClassIndex, waitMs: number, workMs: number): void {
    this.#corrections[cls]!.learn(waitMs, workMs);
  }
}
