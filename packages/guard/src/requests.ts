/**
 * Requests by route, and how many of them a guard would refuse, for a program that only watches an application, as `observe()` does.
 * Requests run as they come. The watcher reports each arrival, and for how long the handler held the loop.
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

/** A guard that is only reckoned with: classes and routes by its defaults, the longest wait as given. */
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

  /** The route of a request: method and path, with ids in it as `:id`. */
  routeOf(method: string, url: string): Route {
    return this.#routes.byUrl(method, url);
  }

  /** A request has arrived. Returns whether a guard would have refused it, as it has to wait for too long. */
  arrived(route: Route, nowMs: number): boolean {
    return this.#reckoning.arrived(nowMs, route) > this.#maxWaitMs[route.cls]!;
  }

  /**
   * A handler has returned. It held the loop for `wallMs`, of which `ms` are charged to its route, and stands for `untimed` more requests:
   * those that were passed to {@link ranUntimed}.
   */
  ran(route: Route, wallMs: number, ms: number, untimed: number): void {
    // Whether it was answered by then does not matter here.
    route.ran(ms, true);
    route.busyMs += untimed * ms;
    this.#reckoning.ran(route.cls, wallMs);
  }

  /** A handler runs without being timed. It counts as the mean of its route. */
  ranUntimed(route: Route): void {
    route.count++;
    this.#reckoning.ran(route.cls, route.costMs);
  }

  /** Routes that had requests. Those that were forgotten are summed up as `(others)`. */
  routes(): Route[] {
    return [...this.#routes.values(), ...this.#routes.others].filter(({ count }) => count > 0);
  }
}
