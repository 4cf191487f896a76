/** Statistics per route: the cost of a request on the loop, and the total so far. Bounded. */
import { foldIds } from '@millrace/base/route';
import { type ClassIndex, type ClassPatterns, classes, classNames } from './classes.js';

/** Assumed cost of a route before its first request, in ms. */
const unknownCostMs = 1;

/** Weight of the newest request in a route's mean cost. */
const newest = 0.2;
/** Number of first requests of which the quickest sets the cost: the others also loaded modules and ran cold code. */
const first = 5;
/** Upper bound of one request's weight: times the mean, or ms if that is more. A pause of the machine is no cost of the route. */
const mostTimes = 8;
const mostMs = 1;

/** Route: requests with similar expected costs. */
export class Route {
  readonly name: string;
  /** Class by pattern; a request's own may differ. */
  readonly cls: ClassIndex;
  /** Requests run. */
  count = 0;
  shed = 0;
  /** Time for which its handlers kept the loop busy until they returned: total and longest, in ms. */
  busyMs = 0;
  maxMs = 0;
  /** Mean of that time over the last requests. */
  costMs = unknownCostMs;
  /** The shortest time from the call of an async handler to the end of its response, in ms. Known under `observe` only. */
  leastMs = Number.POSITIVE_INFINITY;
  /** Recent share of its handlers that answer after they have returned. */
  #asyncShare = 0;
  /** Requests that wait or are in progress: a route in use is not forgotten. */
  open = 0;

  constructor(name: string, cls: ClassIndex) {
    this.name = name;
    this.cls = cls;
  }

  /** True if its handlers usually answer after they have returned. */
  get isAsync(): boolean {
    return this.#asyncShare > 0.5;
  }

  /** Records `ms` of loop time until a handler returned. `answered`: the response was complete by then. */
  ran(ms: number, answered: boolean): void {
    const isAsync = answered ? 0 : 1;
    if (this.count < first) {
      this.costMs = this.count === 0 ? ms : Math.min(ms, this.costMs);
    } else {
      const counted = Math.min(ms, Math.max(mostMs, mostTimes * this.costMs));
      this.costMs += newest * (counted - this.costMs);
    }
    this.#asyncShare =
      this.count === 0 ? isAsync : this.#asyncShare + newest * (isAsync - this.#asyncShare);
    this.count++;
    this.busyMs += ms;
    if (ms > this.maxMs) this.maxMs = ms;
  }
}

/** Longest URL whose route is remembered; in longer ones ids are replaced each time. */
const maxUrl = 512;
/** Most remembered paths with an id. Paths in use soon return, and paths seen once do not accumulate for hours. */
const mostFolded = 256;

/** Routes by method and path. Paths that differ in an id only are one route; the least used are forgotten when it is full. */
export class RouteTable {
  readonly #patterns: ClassPatterns;
  readonly #max: number;
  readonly #routes = new Map<string, Route>();
  /** Cache from path to route, a map per method: cheaper than replacing ids each time. */
  #known = new Map<string, Map<string, Route>>();
  /** Number of cached paths with an id; the others are no more than there are routes. */
  #foldedSize = 0;
  /** Routes for all others beyond the limit, by class. Keep the counts of forgotten routes, so that sums stay right. */
  readonly others: readonly Route[] = classes.map((cls) => new Route('(others)', cls));

  constructor(patterns: ClassPatterns, max: number) {
    this.#patterns = patterns;
    this.#max = max;
  }

  values(): IterableIterator<Route> {
    return this.#routes.values();
  }

  /** Returns the route of a request by its method and URL. */
  byUrl(method: string, url: string): Route {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    let paths = this.#known.get(method);
    const known = paths?.get(path);
    if (known !== undefined) return known;
    const folded = foldIds(path);
    const route = this.byName(`${method} ${folded}`, method, path);
    // A stand-in is not cached, as there may be room later. A path is a slice of its URL, which it keeps in memory.
    if (this.others.includes(route) || url.length > maxUrl) return route;
    if (folded !== path) {
      if (this.#foldedSize >= mostFolded) this.#forgetPaths();
      this.#foldedSize++;
    }
    // Looked up again: forgetting empties it.
    paths = this.#known.get(method);
    if (paths === undefined) {
      paths = new Map();
      this.#known.set(method, paths);
    }
    paths.set(path, route);
    return route;
  }

  /** Returns the route of a name; `method` and `path` determine its class when it is new. */
  byName(name: string, method: string, path: string): Route {
    const cls = this.#patterns.classOf(method, path);
    let route = this.#routes.get(name);
    if (route?.cls === cls) return route;
    // Paths that differ in an id only may still differ in class: the first of a name has it, others say theirs.
    const key = route === undefined ? name : `${name} (${classNames[cls]})`;
    route = this.#routes.get(key);
    if (route !== undefined) return route;
    if (this.#routes.size >= this.#max) this.#forget();
    // All routes are in use.
    if (this.#routes.size >= this.#max) return this.others[cls]!;
    route = new Route(key, cls);
    this.#routes.set(key, route);
    return route;
  }

  /** Forgets the half that used the loop least, so that a flood of made-up paths does not evict expensive routes. */
  #forget(): void {
    const idle = [...this.#routes.values()].filter((route) => route.open === 0);
    idle.sort((a, b) => a.busyMs - b.busyMs);
    for (const route of idle.slice(0, Math.ceil(this.#max / 2))) {
      const other = this.others[route.cls]!;
      other.count += route.count;
      other.shed += route.shed;
      other.busyMs += route.busyMs;
      other.maxMs = Math.max(other.maxMs, route.maxMs);
      this.#routes.delete(route.name);
    }
    this.#forgetPaths();
  }

  #forgetPaths(): void {
    this.#known = new Map();
    this.#foldedSize = 0;
  }
}
