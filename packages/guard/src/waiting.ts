/**
 * Queue of waiting requests: by class, within a class by cohort, and within a cohort by route. A class is served before the classes
 * below it. Cohorts of one class share the loop's time, and so do routes of one cohort. This is start-time fair queueing: the sharer
 * with the least time so far goes next. So a route of slow requests does not block a route of quick ones, and a tenant that floods the
 * server waits behind its own requests. Without the option `cohort` there is one cohort. The queue uses neither clock nor loop.
 */
import { type ClassIndex, low } from './classes.js';
import type { Cohort } from './cohorts.js';
import { type Linked, List } from './list.js';
import type { Route } from './routes.js';

/** Properties of a request that decide its place within its class. */
export interface Kind {
  readonly route: Route;
  readonly cohort: Cohort;
}

/** A request that can wait. */
export interface Waiter<Item> extends Kind, Linked<Item> {
  readonly cls: ClassIndex;
  readonly arrivedMs: number;
}

/** Cost per request beside its handler, and the further cost if it is async, in ms. */
export interface Extra {
  readonly extraMs: number;
  readonly asyncMs: number;
}

/** Cohort or route that shares the loop's time with others. */
interface Sharer {
  /** Loop time it has received, in ms on the clock of its shares. */
  givenMs: number;
  /** Reports whether a request waits. `passAsync`: count only routes whose handlers answer before they return. */
  hasNext(passAsync: boolean): boolean;
}

/** Bound on remembered sharers that have no waiting requests. */
const maxAhead = 1000;

/** Fair shares of the loop's time, by route or cohort. */
class Shares<Key, Member extends Sharer> {
  readonly members = new Map<Key, Member>();
  /** Virtual clock: the received time, in ms, of the sharer served last. */
  #clockMs = 0;
  /** Received time of sharers without waiting requests that are ahead of the clock. They resume there when they return. */
  readonly #ahead = new Map<Key, number>();

  /** Returns the member of a key; calls `make` for a new one. */
  of(key: Key, make: () => Member): Member {
    let member = this.members.get(key);
    if (member !== undefined) return member;
    member = make();
    // A new member gets no credit for the time when it had no requests.
    member.givenMs = Math.max(this.#clockMs, this.#ahead.get(key) ?? 0);
    this.#ahead.delete(key);
    this.members.set(key, member);
    return member;
  }

  /** Returns the member with the least received time, or null. */
  least(passAsync: boolean): Member | null {
    let least: Member | null = null;
    for (const member of this.members.values()) {
      if ((least === null || member.givenMs < least.givenMs) && member.hasNext(passAsync)) {
        least = member;
      }
    }
    return least;
  }

  give(member: Member, ms: number): void {
    this.#clockMs = member.givenMs;
    member.givenMs += ms;
  }

  /** Removes a member that has no waiting requests left. */
  drop(key: Key, { givenMs }: Member): void {
    this.members.delete(key);
    if (this.members.size === 0) {
      // No other member is left to share with.
      this.#ahead.clear();
      return;
    }
    if (givenMs > this.#clockMs) this.#ahead.set(key, givenMs);
    if (this.#ahead.size <= maxAhead) return;
    for (const [each, ms] of this.#ahead) if (ms <= this.#clockMs) this.#ahead.delete(each);
    if (this.#ahead.size > maxAhead) this.#ahead.clear();
  }
}

/** Waiting requests of one route in one cohort of one class, oldest first. */
class Lane<Item extends Waiter<Item>> implements Sharer {
  givenMs = 0;
  readonly items = new List<Item>();

  constructor(readonly route: Route) {}

  hasNext(passAsync: boolean): boolean {
    return !(passAsync && this.route.isAsync);
  }

  workMs(extra: Extra): number {
    return this.items.size * costOf(this.route, extra);
  }
}

/** Waiting requests of one cohort in one class. */
class Crowd<Item extends Waiter<Item>> implements Sharer {
  givenMs = 0;
  readonly routes = new Shares<Route, Lane<Item>>();

  hasNext(passAsync: boolean): boolean {
    if (!passAsync) return true;
    for (const lane of this.routes.members.values()) if (lane.hasNext(passAsync)) return true;
    return false;
  }

  workMs(extra: Extra): number {
    let work = 0;
    for (const lane of this.routes.members.values()) work += lane.workMs(extra);
    return work;
  }

  /** Returns the work of this cohort, in ms, before a new request of a route. */
  workBefore(route: Route, extra: Extra): number {
    const own = this.routes.members.get(route);
    const ownMs = own?.workMs(extra) ?? 0;
    return ownMs + fairWork(this.routes, own, ownMs + costOf(route, extra), extra);
  }

  most(): Lane<Item> {
    return mostOf(this.routes.members.values(), ({ items, route }) => items.size * route.costMs)!;
  }
}

class ClassQueue<Item extends Waiter<Item>> {
  readonly cohorts = new Shares<Cohort, Crowd<Item>>();
  size = 0;
}

const nothing: Extra = { extraMs: 0, asyncMs: 0 };

export class Waiting<Item extends Waiter<Item>> {
  readonly #classes: readonly ClassQueue<Item>[] = [
    new ClassQueue(),
    new ClassQueue(),
    new ClassQueue(),
    // Exempt requests run at once; a custom adapter may still push one.
    new ClassQueue(),
  ];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the number of waiting requests of a class. */
  sizeOf(cls: ClassIndex): number {
    return this.#classes[cls]!.size;
  }

  push(item: Item): void {
    const { cls, cohort, route } = item;
    const queue = this.#classes[cls]!;
    const crowd = queue.cohorts.of(cohort, () => new Crowd());
    crowd.routes.of(route, () => new Lane(route)).items.push(item);
    queue.size++;
    this.#size++;
  }

  remove(item: Item): void {
    const { cls, cohort, route } = item;
    const queue = this.#classes[cls]!;
    const crowd = queue.cohorts.members.get(cohort)!;
    const lane = crowd.routes.members.get(route)!;
    lane.items.remove(item);
    if (lane.items.size === 0) crowd.routes.drop(route, lane);
    if (crowd.routes.members.size === 0) queue.cohorts.drop(cohort, crowd);
    queue.size--;
    this.#size--;
  }

  /** Takes the next request to run, or null. `passAsync`: only from routes whose handlers answer before they return. */
  take(passAsync: boolean): Item | null {
    for (const { size, cohorts } of this.#classes) {
      if (size === 0) continue;
      const crowd = cohorts.least(passAsync);
      if (crowd === null) continue;
      const lane = crowd.routes.least(passAsync)!;
      const item = lane.items.first!;
      cohorts.give(crowd, lane.route.costMs);
      crowd.routes.give(lane, lane.route.costMs);
      this.remove(item);
      return item;
    }
    return null;
  }

  /** Reports whether a request waits whose route's handlers answer before they return. */
  get hasSync(): boolean {
    for (const { cohorts } of this.#classes) {
      for (const crowd of cohorts.members.values()) if (crowd.hasNext(true)) return true;
    }
    return false;
  }

  /** Returns the request of a class that has waited longest; null when none waits. */
  oldest(cls: ClassIndex): Item | null {
    let oldest: Item | null = null;
    for (const crowd of this.#classes[cls]!.cohorts.members.values()) {
      for (const { items } of crowd.routes.members.values()) {
        const { first } = items;
        if (oldest === null || first!.arrivedMs < oldest.arrivedMs) oldest = first;
      }
    }
    return oldest;
  }

  /** Returns the newest request of the route with the most work, in the cohort with the most work: the cheapest loss for the others. */
  newestOfMostWork(cls: ClassIndex): Item | null {
    const crowds = this.#classes[cls]!.cohorts.members.values();
    const most = mostOf(crowds, (crowd) => crowd.workMs(nothing));
    return most === null ? null : most.most().items.last;
  }

  /**
   * Returns a request to evict in favour of this one: from a lower class, the lowest first; else from another cohort of its class with
   * more queued work than its own cohort has with this request. Null when there is none.
   */
  givesWayTo({ cls, route, cohort }: Kind & { readonly cls: ClassIndex }): Item | null {
    for (let below = low as ClassIndex; below > cls; below--) {
      const item = this.newestOfMostWork(below as ClassIndex);
      if (item !== null) return item;
    }
    const item = this.newestOfMostWork(cls);
    if (item === null || item.cohort === cohort) return null;
    const { members } = this.#classes[cls]!.cohorts;
    const ownMs = (members.get(cohort)?.workMs(nothing) ?? 0) + route.costMs;
    return members.get(item.cohort)!.workMs(nothing) > ownMs ? item : null;
  }

  /**
   * Returns the work in ms before a request of this class and kind: all work of the classes above, and in its own class the work that
   * fair shares run first. With a null kind: the work before a request that is last in its class.
   */
  workBefore(cls: ClassIndex, kind: Kind | null, extra: Extra): number {
    let work = 0;
    for (let above = 0; above < cls; above++) work += this.#workOf(above, extra);
    if (kind === null) return work + this.#workOf(cls, extra);
    const { cohorts } = this.#classes[cls]!;
    const own = cohorts.members.get(kind.cohort);
    const ownMs = own?.workBefore(kind.route, extra) ?? 0;
    return work + ownMs + fairWork(cohorts, own, ownMs + costOf(kind.route, extra), extra);
  }

  #workOf(cls: number, extra: Extra): number {
    let work = 0;
    for (const crowd of this.#classes[cls]!.cohorts.members.values()) work += crowd.workMs(extra);
    return work;
  }
}

/** Returns the total loop time per request of a route, in ms. */
export function costOf(route: Route, { extraMs, asyncMs }: Extra): number {
  return route.costMs + extraMs + (route.isAsync ? asyncMs : 0);
}

/** Returns the time the members beside `own` receive until `own` has received `dueMs`: each as much, or all its work if that is less. */
function fairWork<Key, Member extends Sharer & { workMs(extra: Extra): number }>(
  { members }: Shares<Key, Member>,
  own: Member | undefined,
  dueMs: number,
  extra: Extra,
): number {
  let work = 0;
  for (const each of members.values()) {
    if (each !== own) work += Math.min(each.workMs(extra), dueMs);
  }
  return work;
}

function mostOf<Item>(items: Iterable<Item>, msOf: (item: Item) => number): Item | null {
  let most: Item | null = null;
  let mostMs = -1;
  for (const item of items) {
    const ms = msOf(item);
    if (ms <= mostMs) continue;
    most = item;
    mostMs = ms;
  }
  return most;
}
