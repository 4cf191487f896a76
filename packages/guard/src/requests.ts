/**
 * Counts requests by route, and the requests that a guard would refuse, for a program that only watches an application, as `observe()`
 * does. Requests run at once. The watcher reports each arrival, and the time for which the handler kept the loop busy.
 *
 * @module guard/requests
 */
import { ClassPatterns } from './classes.js';
import { Observer } from './observer.js';
import { completeOptions, type GuardOptions, settingFields } from './options.js';
import { type Route, RouteTable } from './routes.js';

export { type ShadowTotals, shadowTotals } from './shadow.js';
export type { Route };

/** The option `maxWait` of a guard, for the options of a watcher. */
export const maxWaitField = settingFields.maxWait;

/** Virtual guard: classes and routes by its defaults, the longest wait as given. */
export class RequestWatch {
  readonly #routes: RouteTable;
  readonly #reckoning = new Observer();
  readonly #maxWaitMs: readonly number[];

  /** @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a bad `maxWait` */
  constructor(given: NonNullable<GuardOptions['maxWait']>) {
    const { classes, maxRoutes, maxWait } = completeOptions({ maxWait: given });
    this.#routes = new RouteTable(new ClassPatterns(classes), maxRoutes);
    this.#maxWaitMs = [maxWait.high, maxWait.normal, maxWait.low, Number.POSITIVE_INFINITY];
  }

  /** Returns the route of a request: method and path, with ids in it as `:id`. */
  routeOf(method: string, url: string): Route {
    return this.#routes.byUrl(method, url);
  }

  /** Records an arrival. Returns true if a guard would have refused the request for its long wait. */
  arrived(route: Route, nowMs: number): boolean {
    return this.#reckoning.arrived(nowMs, route) > this.#maxWaitMs[route.cls]!;
  }

  /**
   * Records that a handler returned. It kept the loop busy for `wallMs`, of which `ms` are charged to its route. It stands for `untimed`
   * more requests: the requests passed to {@link ranUntimed}.
   */
  ran(route: Route, wallMs: number, ms: number, untimed: number): void {
    // The guard's distinction of async handlers does not matter here.
    route.ran(ms, true);
    route.busyMs += untimed * ms;
    this.#reckoning.ran(route.cls, wallMs);
  }

  /** Records a handler that runs without being timed. It counts as the mean of its route. */
  ranUntimed(route: Route): void {
    route.count++;
    this.#reckoning.ran(route.cls, route.costMs);
  }

  /** Returns the routes that had requests. Forgotten routes are summed up as `(others)`. */
  routes(): Route[] {
    return [...this.#routes.values(), ...this.#routes.others].filter(({ count }) => count > 0);
  }
}
