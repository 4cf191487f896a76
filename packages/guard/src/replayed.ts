import type { ClassIndex } from './classes.js';
import type { Cohort } from './cohorts.js';
import type { ShedReason } from './reasons.js';
import type { Route } from './routes.js';
import type { Waiter } from './waiting.js';

/** Request of a guard in shadow (option `observe`): its real course and its course in the model. */
export class Replayed implements Waiter<Replayed> {
  previous: Replayed | null = null;
  next: Replayed | null = null;
  readonly cls: ClassIndex;
  readonly route: Route;
  readonly cohort: Cohort;
  /** Limit outside the guard that would have refused it, or null. */
  readonly limit: ShedReason | null;
  /** Estimated arrival in ms; NaN until its turn of the loop is over. */
  arrivedMs = Number.NaN;
  predictedMs = 0;
  /** Loop time it used, in ms. */
  costMs = 0;
  isAsync = false;
  /** Outcome in the model. dropped: the client had left before its turn. */
  fate: 'open' | 'run' | 'refused' | 'dropped' = 'open';
  /** End of its response in ms; NaN while it is in progress. */
  endedMs = Number.NaN;
  /** True if the client left before the end of the response. */
  hasLeft = false;
  /** Response time without delays by the loop, and an upper bound on that delay, in ms. */
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
