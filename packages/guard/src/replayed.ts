import type { ClassIndex } from './classes.js';
import type { Cohort } from './cohorts.js';
import type { ShedReason } from './reasons.js';
import type { Route } from './routes.js';
import type { Waiter } from './waiting.js';

/** One request of a guard in shadow, in reality and in the model. */
export class Replayed implements Waiter<Replayed> {
  previous: Replayed | null = null;
  next: Replayed | null = null;
  readonly cls: ClassIndex;
  readonly route: Route;
  readonly cohort: Cohort;
  /** A limit beside the guard that would have refused it. */
  readonly limit: ShedReason | null;
  /** NaN until its turn is over. */
  arrivedMs = Number.NaN;
  predictedMs = 0;
  /** Loop time that it has taken, in ms. */
  costMs = 0;
  isAsync = false;
  /** What the model has made of it; dropped: its client had left. */
  fate: 'open' | 'run' | 'refused' | 'dropped' = 'open';
  /** The end of its response; NaN while it is under way. */
  endedMs = Number.NaN;
  /** Its client has left before the end. */
  hasLeft = false;
  /** Its time without delays of the loop, and the longest delay that there can have been. */
  ownMs = 0;
  mostDelayMs = 0;

  constructor(
    { cls, route, cohort }: Pick<Replayed, 'cls' | 'route' | 'cohort'>,
    limit: ShedReason | null,
  ) {
    this.cls = cls;
    this.route = route;
    this.cohort = cohort;
    this.limit = limit;
  }

  /** Delay of its response by the loop, in ms. */
  get delayMs(): number {
    return Math.min(this.endedMs - this.arrivedMs - this.ownMs, this.mostDelayMs);
  }
}
