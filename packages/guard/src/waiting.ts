/**
 * The requests that wait: by class, within a class by cohort, and within a cohort by route. A class is served before those below it.
 * Cohorts of one class share the loop's time, and so do routes of one cohort (start-time fair queueing: who has had the least goes next).
 * So a route of slow requests cannot hold up one of quick ones, and a tenant that floods the server waits behind its own requests.
 * Without the option `cohort` there is one cohort. Knows neither clock nor loop.
 */
import { type ClassIndex, low } from './classes.js';
import type { Cohort } from './cohorts.js';
import { type Linked, List } from './list.js';
import type { Route } from './routes.js';

/** What the order goes by. */
export interface Kind {
  readonly route: Route;
  readonly cohort: Cohort;
}

/** A request that can wait. */
export interface Waiter<Item> extends Kind, Linked<Item> {
  readonly cls: ClassIndex;
  readonly arrivedMs: number;
}

/** What a request of a route costs beside its handler, and beside that if it is async, in ms. */
export interface Extra {
  readonly extraMs: number;
  readonly asyncMs: number;
}

/** One that shares time with others. */
interface Sharer {
  /** Time it has been given, on the clock of those it shares with. */
  givenMs: number;
  /** Whether it has a request; `passAsync`: one of a route whose handlers answer before they return. */
  hasNext(passAsync: boolean): boolean;
}

/** Sharers that are remembered while nothing of them waits. */
const maxAhead = 1000;

/** Those that share time, by what they stand for. */
class Shares<Key, Member extends Sharer> {
  readonly members = new Map<Key, Member>();
  /** The clock of shares: what the one that was served last had been given. */
  #clockMs = 0;
  /** Keys of which nothing waits now, and which have had more than that: they are not owed anything when they come back. */
  readonly #ahead = new Map<Key, number>();

  /** The member of that key; `make` is called for a new one. */
  of(key: Key, make: () => Member): Member {
    let member = this.members.get(key);
    if (member !== undefined) return member;
    member = make();
    // One that comes anew has no claim on the time when it had nothing to do.
    member.givenMs = Math.max(this.#clockMs, this.#ahead.get(key) ?? 0);
    this.#ahead.delete(key);
    this.members.set(key, member);
    return member;
  }

  /** The one that has had the least. */
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

  /** Nothing of it waits any more. */
  drop(key: Key, { givenMs }: Member): void {
    this.members.delete(key);
    if (this.members.size === 0) {
      // Nobody is left to share with.
      this.#ahead.clear();
      return;
    }
    if (givenMs > this.#clockMs) this.#ahead.set(key, givenMs);
    if (this.#ahead.size <= maxAhead) return;
    for (const [each, ms] of this.#ahead) if (ms <= this.#clockMs) this.#ahead.delete(each);
    if (this.#ahead.size > maxAhead) this.#ahead.clear();
  }
}

/** Requests of one route that wait in one cohort of one class, oldest first. */
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

/** Requests of one cohort that wait in one class. */
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

  /** Its work before a request of that route. */
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
    // Exempt requests run at once; one of an adapter's own making may still be pushed.
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

  /** Takes the next to run, or null. `passAsync`: only of routes whose handlers answer before they return. */
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

  /** Reports whether there is a request of a route whose handlers answer before they return. */
  get hasSync(): boolean {
    for (const { cohorts } of this.#classes) {
      for (const crowd of cohorts.members.values()) if (crowd.hasNext(true)) return true;
    }
    return false;
  }

  /** The one of that class that has waited longest; null when there is none. */
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

  /** The newest of the cohort with the most work in that class, of its route with the most: the one that costs the others least to lose. */
  newestOfMostWork(cls: ClassIndex): Item | null {
    const crowds = this.#classes[cls]!.cohorts.members.values();
    const most = mostOf(crowds, (crowd) => crowd.workMs(nothing));
    return most === null ? null : most.most().items.last;
  }

  /**
   * A request that may give way to this one: of a class below, the lowest first; else of another cohort of its class that has more work in
   * the queue than its own has with it. Null when there is none.
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
   * Work in ms that comes before a request of that class and kind: all of the classes above; of its own, what fair shares give the others
   * first. A kind of null: before one that comes after all of its class.
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

/** What a request of a route costs the loop in all, in ms. */
export function costOf(route: Route, { extraMs, asyncMs }: Extra): number {
  return route.costMs + extraMs + (route.isAsync ? asyncMs : 0);
}

/** What those beside `own` will have been given when it has been given `dueMs`: each as much, or all it wants. */
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
