/** Chooses queued requests to shed: requests whose turn comes too late, and requests that give way to others. */
import { type ClassIndex, high, low } from './classes.js';
import type { Forecast } from './forecast.js';
import type { ShedReason } from './reasons.js';
import type { Waiter, Waiting } from './waiting.js';

/** Tolerance for a request's actual wait, as a factor of the limit of its class: predictions are not exact. */
export const ageTolerance = 1.25;

/** Sheds a request that is in no queue any more. */
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

  /** Sheds a request taken from the queue if it has waited too long. Returns true if it did. */
  aged(item: Item, waitMs: number, now: number): boolean {
    if (waitMs <= this.#maxWaitMs[item.cls]! * ageTolerance) return false;
    this.#shed(item, 'age', waitMs, now);
    return true;
  }

  /**
   * Sheds requests whose predicted wait is now too long: costs are better known than at their arrival. The newest of the cohort
   * with the most work is first, from the class that waits longest. Then sheds requests that have already waited too long: as long as
   * higher classes keep the loop busy, those would neither run nor be refused.
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

  /** Makes room in a full queue for this request by shedding another one. Returns false if none gives way. */
  makeRoom(item: Item, now: number): boolean {
    const other = this.#waiting.givesWayTo(item);
    if (other === null) return false;
    this.#waiting.remove(other);
    this.#shed(other, 'full', now - other.arrivedMs, now);
    return true;
  }
}
