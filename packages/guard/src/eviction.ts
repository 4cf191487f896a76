/** Chooses queued requests to shed: those whose turn comes too late, and those that give way. */
import { type ClassIndex, high, low } from './classes.js';
import type { Forecast } from './forecast.js';
import type { ShedReason } from './reasons.js';
import type { Waiter, Waiting } from './waiting.js';

/** A request may have waited this much longer than the limit of its class when its turn comes. Predictions are not exact. */
export const ageTolerance = 1.25;

/** Turns away a request that is in no queue any more. */
type Shed<Item> = (item: Item, reason: ShedReason, waitMs: number, now: number) => void;

export class Eviction<Item extends Waiter<Item>> {
  readonly #waiting: Waiting<Item>;
  readonly #forecast: Forecast;
  readonly #shed: Shed<Item>;
  readonly #maxWaitMs: readonly number[];

  /** `maxWaitMs`: the limit of each class. */
  constructor(
    waiting: Waiting<Item>,
    forecast: Forecast,
    maxWaitMs: readonly number[],
    shed: Shed<Item>,
  ) {
    this.#waiting = waiting;
    this.#forecast = forecast;
    this.#maxWaitMs = maxWaitMs;
    this.#shed = shed;
  }

  /** Turns away a request that was taken to be run, if it has waited too long; says whether it has. */
  aged(item: Item, waitMs: number, now: number): boolean {
    if (waitMs <= this.#maxWaitMs[item.cls]! * ageTolerance) return false;
    this.#shed(item, 'age', waitMs, now);
    return true;
  }

  /**
   * Turns away what will not have its turn in time after all: costs are known better now than when it came. The newest of the cohort
   * with the most work goes first, from the class that waits longest. Then what has waited too long already: while classes above
   * never end, neither its turn nor its refusal would come.
   */
  trim(now: number): void {
    for (let cls: ClassIndex = low; cls >= high; cls--) {
      const limitMs = this.#maxWaitMs[cls]! * ageTolerance;
      for (;;) {
        const item = this.#waiting.newestOfMostWork(cls as ClassIndex);
        if (item === null) break;
        const ownMs = this.#forecast.costOf(item.route);
        const before = this.#forecast.workBefore(cls as ClassIndex, null) - ownMs;
        const waitMs = this.#forecast.waitFor(before, cls as ClassIndex);
        if (waitMs <= limitMs) break;
        this.#waiting.remove(item);
        this.#shed(item, 'wait', waitMs, now);
      }
      for (;;) {
        const item = this.#waiting.oldest(cls as ClassIndex);
        if (item === null || now - item.arrivedMs <= limitMs) break;
        this.#waiting.remove(item);
        this.#shed(item, 'age', now - item.arrivedMs, now);
      }
    }
  }

  /** Room in a full queue for this request, if another can give way. */
  makeRoom(item: Item, now: number): boolean {
    const other = this.#waiting.givesWayTo(item);
    if (other === null) return false;
    this.#waiting.remove(other);
    this.#shed(other, 'full', now - other.arrivedMs, now);
    return true;
  }
}
