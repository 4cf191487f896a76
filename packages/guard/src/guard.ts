/**
 * The guard refuses requests that the loop has no time for, by class and predicted wait, and runs the others in an order and a rhythm
 * that keep the loop responsive.
 *
 * A request goes `new → running → over` while the loop has time, `new → queued → running → over` when it has not, and ends as
 * `shed` from either of the first two stages. This file chooses the path; the files beside it implement the steps. See
 * docs/reference/guard.md for the reasons.
 */
import type { IncomingMessage } from 'node:http';
import { captureContext } from '@millrace/base/context';
import { MillraceError } from '@millrace/base/errors';
import { announce } from '@millrace/base/sources';
import { performance } from '@millrace/base/timers';
import {
  type ClassIndex,
  ClassPatterns,
  classes,
  classNames,
  exempt,
  low,
  type RequestClass,
} from './classes.js';
import { Eviction } from './eviction.js';
import { Forecast } from './forecast.js';
import { Gate } from './gate.js';
import { GateKeeper } from './gate-keeper.js';
import { Kinds } from './kinds.js';
import { LoopTime } from './loop-time.js';
import { type CompleteOptions, completeOptions, type GuardOptions } from './options.js';
import { type Route, RouteTable } from './routes.js';
import { Running } from './running.js';
import { Shadow } from './shadow.js';
import { Shedding, type StaleSource } from './shedding.js';
import { Slices } from './slices.js';
import { ClassCounts, cohortStats, type GuardStats, routeStats } from './stats.js';
import type { Ticket, TicketOwner } from './ticket.js';
import { Waiting } from './waiting.js';

/** Requests per slice from which a route is cheap: a wait would cost them more than it saves others. */
const cheapRuns = 50;
/** Consecutive slices for which requests of a cheap route run directly. */
const cheapSlices = 5;

/** Time in ms after a refusal for which a guard is under pressure. */
const pressureMs = 1000;

/** Guards requests of one or several servers. Create one with `guard(server)`, `guardMiddleware()`, or the Fastify plugin. */
export class Guard {
  /** Options of the guard, with defaults. */
  readonly options: CompleteOptions;
  /** Caches that are tried, in order, before a request is shed. */
  readonly caches = new Set<StaleSource>();

  readonly #routes: RouteTable;
  readonly #kinds: Kinds;
  readonly #waiting = new Waiting<Ticket>();
  readonly #gate: Gate;
  readonly #keeper: GateKeeper;
  readonly #time = new LoopTime();
  readonly #forecast: Forecast;
  readonly #running: Running;
  readonly #slices: Slices;
  readonly #shedding: Shedding;
  readonly #eviction: Eviction<Ticket>;
  readonly #shadow: Shadow | null;
  readonly #counts: readonly ClassCounts[] = classNames.map(() => new ClassCounts());
  readonly #maxWaitMs: readonly number[];
  readonly #owner: TicketOwner = { closed: (ticket) => this.#closed(ticket) };
  readonly #onClose: (() => void)[] = [];
  #isClosed = false;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: GuardOptions = {}) {
    this.options = completeOptions(options);
    const { classes, maxRoutes, concurrency, slice, rest, maxWait, observe } = this.options;
    this.#routes = new RouteTable(new ClassPatterns(classes), maxRoutes);
    this.#kinds = new Kinds(this.options, this.#routes);
    this.#gate = new Gate(concurrency);
    this.#keeper = new GateKeeper(this.#gate, this.#time, () => this.#wake());
    this.#forecast = new Forecast(this.#waiting, this.#gate, this.#time);
    this.#maxWaitMs = [maxWait.high, maxWait.normal, maxWait.low, Number.POSITIVE_INFINITY];
    this.#shadow = observe
      ? new Shadow(this.options, this.#time, this.#counts, this.#maxWaitMs)
      : null;
    this.#running = new Running(this.#gate, this.#time, this.#shadow, this.#counts, this.#owner);
    this.#slices = new Slices(this.#work(), slice, rest);
    this.#shedding = new Shedding(this.options, this.caches, this.#counts, this.#forecast);
    this.#eviction = new Eviction(
      this.#waiting,
      this.#forecast,
      this.#maxWaitMs,
      (ticket, ...why) => {
        ticket.release();
        this.#shedding.shed(ticket, ...why);
      },
    );
    announce('guard', this as Guard, (each) => each.stats());
  }

  /**
   * True while requests are refused or are about to be: one was shed within the last second, or the queue is longer than half
   * of the wait that a `low` request may have. Cheap enough to check for each request.
   */
  get underPressure(): boolean {
    if (performance.now() - this.#shedding.lastMs < pressureMs) return true;
    if (this.#waiting.size === 0) return false;
    return this.#forecast.workBefore(low, null) > this.options.maxWait.low / 2;
  }

  /** Counters since the guard was created. Costs a loop over its routes. */
  stats(): GuardStats {
    this.#shadow?.catchUp(performance.now());
    const byClass = Object.fromEntries(
      classes.map((cls) => [
        classNames[cls],
        { queued: this.#waiting.sizeOf(cls), ...this.#counts[cls]!.snapshot() },
      ]),
    ) as GuardStats['classes'];
    return {
      queued: this.#waiting.size,
      maxQueue: this.options.maxQueue,
      inFlight: this.#running.size,
      concurrency: this.#gate.limit,
      underPressure: this.underPressure,
      rejectDelayMs: this.#shedding.delayMs,
      rejectionsHeld: this.#shedding.held,
      classes: byClass,
      routes: routeStats([...this.#routes.values(), ...this.#routes.others]),
      cohorts: cohortStats(this.#kinds.cohorts()),
    };
  }

  /**
   * Restores the servers. Waiting requests still run, delayed refusals are sent now, and requests that adapters admit later
   * run at once. Idempotent.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#shedding.close();
    for (const fn of this.#onClose.splice(0)) fn();
    this.#shedding.flush();
    this.#keeper.stop();
    this.#shadow?.close();
    this.#wake();
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  /** Called once at close; for adapters, which then restore their servers. */
  onClose(fn: () => void): void {
    this.#onClose.push(fn);
  }

  /** Returns the route of a request. Adapters that know its name pass it, with the method before it. */
  routeOf(req: IncomingMessage, name?: string): Route {
    return this.#kinds.routeOf(req, name);
  }

  /** Returns the class of a request: by function, header, the adapter's knowledge of its route, or pattern. */
  classOf(req: IncomingMessage, route: Route, known?: RequestClass): ClassIndex {
    return this.#kinds.classOf(req, route, known);
  }

  /** Records a new connection: the loop's turns between slices serve to accept more. */
  noticeConnection(): void {
    this.#slices.notice();
  }

  /** Runs the request now or later, or refuses it. Throws the handler's error if it runs now. */
  admit(ticket: Ticket): void {
    const now = performance.now();
    const { cls, route } = ticket;
    ticket.arrivedMs = now;
    ticket.cohort = this.#kinds.cohortOf(ticket.req);
    this.#slices.notice();
    if (this.#shadow !== null) {
      if (!this.#isClosed) this.#shadow.arrived(ticket, now);
      this.#running.run(ticket, now);
      return;
    }
    const busyMs = this.#time.busyFor(now);
    if (cls === exempt || this.#isClosed) {
      this.#running.run(ticket, now);
      return;
    }
    if (
      this.#waiting.size === 0 &&
      !this.#slices.isActive &&
      busyMs < this.#directMs(route) &&
      (!route.isAsync || this.#isGateOpen(now))
    ) {
      this.#running.run(ticket, now);
      this.#slices.restAfter(this.#running.tookMs);
      return;
    }
    ticket.predictedMs = this.#forecast.workBefore(cls, ticket);
    const wait = this.#forecast.waitFor(ticket.predictedMs, cls);
    if (wait > this.#maxWaitMs[cls]! && this.#isPredictable(route, now)) {
      this.#shedding.shed(ticket, 'wait', wait, now);
      return;
    }
    if (this.#waiting.size >= this.options.maxQueue && !this.#eviction.makeRoom(ticket, now)) {
      this.#shedding.shed(ticket, 'full', wait, now);
      return;
    }
    this.#queue(ticket);
  }

  /** Refuses a request that was not admitted, for adapters with their own limits. */
  reject(ticket: Ticket, reason: 'pressure' | 'unhealthy'): void {
    const now = performance.now();
    ticket.cohort = this.#kinds.cohortOf(ticket.req);
    if (this.#shadow !== null) {
      if (!this.#isClosed) this.#shadow.arrived(ticket, now, reason);
      this.#running.run(ticket, now);
      return;
    }
    this.#shedding.shed(ticket, reason, 0, now);
  }

  /** Returns the busy time of the loop, in ms, up to which requests of a route run at once. For cheap routes it is longer. */
  #directMs(route: Route): number {
    const { slice } = this.options;
    return this.#forecast.costOf(route) * cheapRuns < slice ? slice * cheapSlices : slice;
  }

  /**
   * Reports whether a prediction is good enough to refuse on. Before the first slice of a queue its costs are outdated; after the slice
   * the queue is trimmed. A request that waits only for the gate of a loop with plenty of time does not wait long.
   */
  #isPredictable(route: Route, now: number): boolean {
    if (route.isAsync && this.#gate.isEasy(now)) return false;
    return this.#slices.count > 0 || !this.#slices.isActive;
  }

  #queue(ticket: Ticket): void {
    ticket.stage = 'queued';
    ticket.hold();
    ticket.context = captureContext('auto');
    this.#waiting.push(ticket);
    ticket.owner = this.#owner;
    ticket.watch();
    this.#wake();
  }

  /** Called when the response was sent, or the client left. */
  #closed(ticket: Ticket): void {
    if (ticket.stage === 'queued') {
      this.#waiting.remove(ticket);
      ticket.stage = 'over';
      ticket.release();
      this.#counts[ticket.cls]!.gone++;
      return;
    }
    if (ticket.stage !== 'running') return;
    const now = performance.now();
    this.#running.closed(ticket, now);
    this.#keeper.decideIfDue(now);
    this.#wake();
  }

  /** Interface of the guard for its slices. */
  #work(): ConstructorParameters<typeof Slices>[0] {
    const guard = this;
    return {
      get hasMore() {
        return guard.#canRun(performance.now());
      },
      get size() {
        return guard.#waiting.size;
      },
      runNext: () => this.#runNext(),
      sliceOver: () => this.#sliceOver(),
      ended: () => this.#slicesEnded(),
    };
  }

  #runNext(): void {
    for (;;) {
      const now = performance.now();
      const ticket = this.#waiting.take(this.#waiting.size > 0 && !this.#isGateOpen(now));
      if (ticket === null) return;
      const waitMs = now - ticket.arrivedMs;
      const { cls } = ticket;
      if (ticket.gone()) {
        ticket.stage = 'over';
        ticket.release();
        this.#counts[cls]!.gone++;
        continue;
      }
      this.#forecast.learn(cls, waitMs, ticket.predictedMs);
      if (!this.#isClosed && this.#eviction.aged(ticket, waitMs, now)) continue;
      this.#counts[cls]!.ranAfter(waitMs);
      this.#running.run(ticket, now);
      return;
    }
  }

  #sliceOver(): void {
    const now = performance.now();
    this.#time.account(now);
    if (!this.#isClosed && !this.#gate.isEasy(now)) this.#eviction.trim(now);
  }

  #slicesEnded(): void {
    this.#time.paused(performance.now());
    // Requests still in the queue wait for the gate.
    this.#wake();
  }

  #isGateOpen(now: number): boolean {
    return this.#isClosed || this.#keeper.isOpen(now);
  }

  /** Reports whether a queued request may run now. */
  #canRun(now: number): boolean {
    return this.#waiting.size > 0 && (this.#isGateOpen(now) || this.#waiting.hasSync);
  }

  /** Schedules the queued requests: in slices, or, while the gate is shut to all of them, at the next end of a request in progress. */
  #wake(): void {
    if (this.#waiting.size === 0 || this.#slices.isActive) return;
    if (this.#canRun(performance.now())) this.#slices.start();
    else this.#keeper.arm();
  }
}

/** Returns the given guard, or a new one with these options. */
export function chosenGuard(options: GuardOptions | Guard): Guard {
  if (!(options instanceof Guard)) return new Guard(options);
  if (!options.closed) return options;
  throw new MillraceError('MILLRACE_E_CLOSED', 'this guard is closed; make a new one');
}
