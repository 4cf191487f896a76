/** Chooses queued requests to shed: those whose turn comes too late, and those that give way. */
import { type ClassIndex, high, low } from './classes.js';
import type { Forecast } from './forecast.js';
import type { Shedding } from './shedding.js';
import type { ShedReason, Ticket } from './ticket.js';
import type { Waiting } from './waiting.js';

/** A request may have waited this much longer than the limit of its class when its turn comes. Predictions are not exact. */
const ageTolerance = 1.25;

export class Eviction {
  readonly #waiting: Waiting;
  readonly #forecast: Forecast;
  readonly #shedding: Shedding;
  readonly #maxWaitMs: readonly number[];

  /** `maxWaitMs`: the limit of each class. */
  constructor(
    waiting: Waiting,
    forecast: Forecast,
    shedding: Shedding,
    maxWaitMs: readonly number[],
  ) {
    this.#waiting = waiting;
    this.#forecast = forecast;
    this.#shedding = shedding;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Turns away a request that was taken to be run, if it has waited too long; says whether it has. */
  aged(ticket: Ticket, waitMs: number, now: number): boolean {
    if (waitMs <= this.#maxWaitMs[ticket.cls]! * ageTolerance) return false;
    this.#shed(ticket, 'age', waitMs, now);
    return true;
  }

  /**
   * Turns away what will not have its turn in time after all: costs are known better now than when it came. The newest of the route
   * with the most work goes first, from the class that waits longest. Then what has waited too long already: while classes above
   * never end, neither its turn nor its refusal would come.
   */
  trim(now: number): void {
    for (let cls: ClassIndex = low; cls >= high; cls--) {
      const limitMs = this.#maxWaitMs[cls]! * ageTolerance;
      for (;;) {
        const ticket = this.#waiting.newestOfMostWork(cls as ClassIndex);
        if (ticket === null) break;
        const ownMs = this.#forecast.costOf(ticket.route);
        const before = this.#forecast.workBefore(cls as ClassIndex, null) - ownMs;
        const waitMs = this.#forecast.waitFor(before, cls as ClassIndex);
        if (waitMs <= limitMs) break;
        this.#waiting.remove(ticket);
        this.#shed(ticket, 'wait', waitMs, now);
      }
      for (;;) {
        const ticket = this.#waiting.oldest(cls as ClassIndex);
        if (ticket === null || now - ticket.arrivedMs <= limitMs) break;
        this.#waiting.remove(ticket);
        this.#shed(ticket, 'age', now - ticket.arrivedMs, now);
      }
    }
  }

  /** Room in a full queue for a request of that class, if one of a class below can give way. */
  makeRoom(cls: ClassIndex, now: number): boolean {
    const ticket = this.#waiting.newestBelow(cls);
    if (ticket === null) return false;
    this.#waiting.remove(ticket);
    this.#shed(ticket, 'full', now - ticket.arrivedMs, now);
    return true;
  }

  #shed(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    ticket.route.open--;
    this.#shedding.shed(ticket, reason, waitMs, now);
  }
}
