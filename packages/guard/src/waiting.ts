/**
 * The requests that wait, by class and, within a class, by route. A class is served before those below it; routes of one
 * class share the loop's time, so that a route of slow requests cannot hold up one of quick ones (start-time fair queueing: the
 * route that has had the least goes next). Knows neither clock nor loop.
 */
import { type ClassIndex, low } from './classes.js';
import { TicketList } from './list.js';
import type { Route } from './routes.js';
import type { Ticket } from './ticket.js';

/** Requests of one route that wait in one class, oldest first. */
class Lane {
  readonly route: Route;
  readonly tickets = new TicketList();
  /** Time it has been given, on the clock of its class. */
  givenMs: number;

  constructor(route: Route, givenMs: number) {
    this.route = route;
    this.givenMs = givenMs;
  }
}

/** Routes of a class that are remembered while nothing of them waits. */
const maxAhead = 1000;

class ClassQueue {
  readonly lanes = new Map<Route, Lane>();
  size = 0;
  /** The clock of shares: what the route that was served last had been given. */
  clockMs = 0;
  /** Routes of which nothing waits now, and which have had more than that: they are not owed anything when they come back. */
  readonly ahead = new Map<Route, number>();

  laneOf(route: Route): Lane {
    let lane = this.lanes.get(route);
    if (lane !== undefined) return lane;
    // A route that comes anew has no claim on the time when it had nothing to do.
    lane = new Lane(route, Math.max(this.clockMs, this.ahead.get(route) ?? 0));
    this.ahead.delete(route);
    this.lanes.set(route, lane);
    return lane;
  }

  drop(lane: Lane): void {
    this.lanes.delete(lane.route);
    if (this.lanes.size === 0) {
      // Nobody is left to share with.
      this.ahead.clear();
      return;
    }
    if (lane.givenMs > this.clockMs) this.ahead.set(lane.route, lane.givenMs);
    if (this.ahead.size <= maxAhead) return;
    for (const [route, givenMs] of this.ahead) {
      if (givenMs <= this.clockMs) this.ahead.delete(route);
    }
    if (this.ahead.size > maxAhead) this.ahead.clear();
  }
}

export class Waiting {
  readonly #classes: readonly ClassQueue[] = [
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

  push(ticket: Ticket): void {
    const queue = this.#classes[ticket.cls]!;
    queue.laneOf(ticket.route).tickets.push(ticket);
    queue.size++;
    this.#size++;
  }

  remove(ticket: Ticket): void {
    const queue = this.#classes[ticket.cls]!;
    const lane = queue.lanes.get(ticket.route)!;
    lane.tickets.remove(ticket);
    if (lane.tickets.size === 0) queue.drop(lane);
    queue.size--;
    this.#size--;
  }

  /** Takes the next to run, or null. `passAsync`: only of routes whose handlers answer before they return. */
  take(passAsync: boolean): Ticket | null {
    for (const queue of this.#classes) {
      if (queue.size === 0) continue;
      const lane = leastGiven(queue, passAsync);
      if (lane === null) continue;
      const ticket = lane.tickets.first!;
      queue.clockMs = lane.givenMs;
      lane.givenMs += lane.route.costMs;
      this.remove(ticket);
      return ticket;
    }
    return null;
  }

  /** Reports whether there is a request of a route whose handlers answer before they return. */
  get hasSync(): boolean {
    for (const queue of this.#classes) {
      for (const route of queue.lanes.keys()) if (!route.isAsync) return true;
    }
    return false;
  }

  /** The one of that class that has waited longest; null when there is none. */
  oldest(cls: ClassIndex): Ticket | null {
    let oldest: Ticket | null = null;
    for (const { tickets } of this.#classes[cls]!.lanes.values()) {
      const { first } = tickets;
      if (oldest === null || first!.arrivedMs < oldest.arrivedMs) oldest = first;
    }
    return oldest;
  }

  /** The newest of the route with the most work in that class: the one that costs the others least to lose. */
  newestOfMostWork(cls: ClassIndex): Ticket | null {
    let most: Lane | null = null;
    let mostMs = -1;
    for (const lane of this.#classes[cls]!.lanes.values()) {
      const ms = lane.tickets.size * lane.route.costMs;
      if (ms <= mostMs) continue;
      most = lane;
      mostMs = ms;
    }
    return most === null ? null : most.tickets.last;
  }

  /** A ticket of a class below `cls`, the lowest first, that may give way to one of `cls`; null when there is none. */
  newestBelow(cls: ClassIndex): Ticket | null {
    for (let below = low as ClassIndex; below > cls; below--) {
      const ticket = this.newestOfMostWork(below as ClassIndex);
      if (ticket !== null) return ticket;
    }
    return null;
  }

  /**
   * Work in ms that comes before a request of that class and route, if it were pushed now. `extraMs` is what each request costs
   * beside its handler's own time, and `asyncMs` what a request of an async route does.
   */
  workBefore(cls: ClassIndex, route: Route | null, extraMs: number, asyncMs: number): number {
    let work = 0;
    for (let above = 0; above < cls; above++) {
      for (const lane of this.#classes[above]!.lanes.values())
        work += workOf(lane, extraMs, asyncMs);
    }
    const queue = this.#classes[cls]!;
    const own = route === null ? undefined : queue.lanes.get(route);
    const ownMs = own === undefined ? 0 : workOf(own, extraMs, asyncMs);
    // What its own route will have been given when its turn comes; each other route will have had as much, or all it wants.
    const dueMs =
      ownMs + (route === null ? Number.POSITIVE_INFINITY : costOf(route, extraMs, asyncMs));
    for (const lane of queue.lanes.values()) {
      work += lane === own ? ownMs : Math.min(workOf(lane, extraMs, asyncMs), dueMs);
    }
    return work;
  }
}

/** Returns the total cost of a route's request on the loop, in ms. */
export function costOf(route: Route, extraMs: number, asyncMs: number): number {
  return route.costMs + extraMs + (route.isAsync ? asyncMs : 0);
}

function workOf(lane: Lane, extraMs: number, asyncMs: number): number {
  return lane.tickets.size * costOf(lane.route, extraMs, asyncMs);
}

function leastGiven(queue: ClassQueue, passAsync: boolean): Lane | null {
  let least: Lane | null = null;
  for (const lane of queue.lanes.values()) {
    if (passAsync && lane.route.isAsync) continue;
    if (least === null || lane.givenMs < least.givenMs) least = lane;
  }
  return least;
}
