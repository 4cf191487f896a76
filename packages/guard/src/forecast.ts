/**
 * Forecasts of requests before they run: the cost of one on the loop, the work before it, and its wait. Actual waits correct
 * the predicted ones, per class.
 */
import { type ClassIndex, classNames } from './classes.js';
import type { Gate } from './gate.js';
import type { LoopTime } from './loop-time.js';
import type { Route } from './routes.js';
import { costOf, type Waiting } from './waiting.js';

/** Ratio of actual to predicted waits: the factor by which predictions are multiplied. */
export class Correction {
  /** Predictions are off by a little rather than by a lot: one odd request must not turn everything away. */
  static readonly min = 0.5;
  static readonly max = 4;
  value = 1;

  /** One request waited so long, and was predicted to, before correction. */
  learn(actualMs: number, predictedMs: number): void {
    // Of short waits the grain of slices is a large part.
    if (predictedMs < 20) return;
    const ratio = Math.min(Correction.max, Math.max(Correction.min, actualMs / predictedMs));
    this.value += 0.05 * (ratio - this.value);
  }
}

export class Forecast {
  readonly #waiting: Waiting;
  readonly #gate: Gate;
  readonly #time: LoopTime;
  readonly #corrections: readonly Correction[] = classNames.map(() => new Correction());

  constructor(waiting: Waiting, gate: Gate, time: LoopTime) {
    this.#waiting = waiting;
    this.#gate = gate;
    this.#time = time;
  }

  /** Returns the total cost of a route's request on the loop, in ms. */
  costOf(route: Route): number {
    return costOf(route, this.#time.extraMs, this.#time.asyncMs);
  }

  /** Work in ms ahead of a request of that class. Of what is under way, half is done on average. */
  workBefore(cls: ClassIndex, route: Route | null): number {
    const { extraMs, asyncMs } = this.#time;
    return this.#waiting.workBefore(cls, route, extraMs, asyncMs) + (this.#gate.size * asyncMs) / 2;
  }

  /** The wait in ms of a request of that class with so much work ahead of it. */
  waitFor(workMs: number, cls: ClassIndex): number {
    return workMs * this.#corrections[cls]!.value;
  }

  /** A request of that class waited so long, and had so much work ahead of it when it came. */
  learn(cls: ClassIndex, waitMs: number, workMs: number): void {
    this.#corrections[cls]!.learn(waitMs, workMs);
  }
}
