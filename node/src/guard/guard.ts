/**
 * The guard: requests that the loop has no time for are turned away at once, by class and predicted wait, and the rest is run in an order
 * and a rhythm that keep the loop alive.
 *
 * A request goes `new → running → over` while the loop has time, `new → queued → running → over` when it has not, and ends as
 * `shed` from either of the first two stages. See docs/guard.md for the reasons.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { captureContext, runInContext } from '../core/dispatch/context.js';
import { announce } from '../core/sources.js';
import { throwLater } from '../core/throw-later.js';
import { clearTimeout, performance, setTimeout } from '../core/timers.cjs';
import { MillraceError, show } from '../errors.js';
import {
  type ClassIndex,
  ClassPatterns,
  classes,
  classInHeader,
  classNames,
  exempt,
  high,
  low,
  type RequestClass,
  toClassIndex,
} from './classes.js';
import { Correction } from './correction.js';
import { Gate } from './gate.js';
import { LoopTime } from './loop-time.js';
import { Observer } from './observer.js';
import { type CompleteOptions, completeOptions, type GuardOptions } from './options.js';
import { Rejections } from './rejections.js';
import { type Route, RouteTable } from './routes.js';
import { Slices } from './slices.js';
import { ClassCounts, type GuardStats, routeStats } from './stats.js';
import type { ShedReason, Ticket, TicketOwner } from './ticket.js';
import { costOf, Waiting } from './waiting.js';

/** Something that may answer a request that is about to be shed: a handler with stale copies of its answers. */
export interface StaleSource {
  /** Answers and says so, or leaves the response alone. */
  answer(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean>;
}

/** A request may have waited this much longer than the limit of its class when its turn comes. Predictions are not exact. */
const ageTolerance = 1.25;

/** A route of which so many requests fit into a slice is cheap: waiting would cost them more than it gave to others. */
const cheapRuns = 50;
/** Requests of a cheap route run directly for so many slices on end. */
const cheapSlices = 5;

/** A guard that shed somebody so recently, in ms, is under pressure. */
const pressureMs = 1000;

/** With the gate shut and nothing under way that would open it, it is looked at again after so long, in ms. */
const gateRetryMs = 10;

/** Guards requests of one or several servers. Make one with `guard(server)`, `guardMiddleware()`, or the Fastify plugin. */
export class Guard {
  /** What it was made with, completed. */
  readonly options: CompleteOptions;
  /** Asked, in order, before a request is shed. */
  readonly caches = new Set<StaleSource>();

  readonly #routes: RouteTable;
  readonly #waiting = new Waiting();
  readonly #gate: Gate;
  readonly #rejections: Rejections;
  readonly #slices: Slices;
  readonly #time = new LoopTime();
  readonly #observer: Observer | null;
  readonly #counts: readonly ClassCounts[] = classNames.map(() => new ClassCounts());
  readonly #corrections: readonly Correction[] = classNames.map(() => new Correction());
  readonly #maxWaitMs: readonly number[];
  readonly #owner: TicketOwner = { closed: (ticket) => this.#closed(ticket) };
  #lastShedMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** How long the handler that ran last held the loop, in ms. */
  #tookMs = 0;
  #gateTimer: NodeJS.Timeout | null = null;
  readonly #onClose: (() => void)[] = [];
  #isClosed = false;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: GuardOptions = {}) {
    this.options = completeOptions(options);
    const { classes, maxRoutes, concurrency, rejectDelay, slice, rest, maxWait, observe } =
      this.options;
    this.#routes = new RouteTable(new ClassPatterns(classes), maxRoutes);
    this.#gate = new Gate(concurrency);
    this.#rejections = new Rejections(rejectDelay);
    this.#slices = new Slices(this.#work(), slice, rest);
    this.#observer = observe ? new Observer() : null;
    this.#maxWaitMs = [maxWait.high, maxWait.normal, maxWait.low, Number.POSITIVE_INFINITY];
    announce('guard', this as Guard, (each) => each.stats());
  }

  /**
   * Whether requests are being turned away, or are about to be: within the last second somebody was shed, or what waits is more than
   * half of what a `low` request may have ahead of it. Cheap enough to ask for each request.
   */
  get underPressure(): boolean {
    if (performance.now() - this.#lastShedMs < pressureMs) return true;
    if (this.#waiting.size === 0) return false;
    return this.#workBefore(low, null) > this.options.maxWait.low / 2;
  }

  /** What was counted since the guard was made. Costs a walk over its routes. */
  stats(): GuardStats {
    const byClass = Object.fromEntries(
      classes.map((cls) => [
        classNames[cls],
        { queued: this.#waiting.sizeOf(cls), ...this.#counts[cls]!.snapshot() },
      ]),
    ) as GuardStats['classes'];
    return {
      queued: this.#waiting.size,
      maxQueue: this.options.maxQueue,
      inFlight: this.#inFlight,
      concurrency: this.#gate.limit,
      underPressure: this.underPressure,
      rejectDelayMs: this.#rejections.delayMs,
      rejectionsHeld: this.#rejections.size,
      classes: byClass,
      routes: routeStats([...this.#routes.values(), ...this.#routes.others]),
    };
  }

  /**
   * Gives back what is guarded. What waits is still run, refusals held back are answered now, and what adapters hand over from now on is
   * run as it comes. Idempotent.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const fn of this.#onClose.splice(0)) fn();
    this.#rejections.flush();
    this.#stopGateTimer();
    this.#wake();
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  /** Called once at close; for adapters, which give their servers back then. */
  onClose(fn: () => void): void {
    this.#onClose.push(fn);
  }

  /** The route of a request. Adapters that know the name of its route give it, and the method before it. */
  routeOf(req: IncomingMessage, name?: string): Route {
    const { method = 'GET' } = req;
    // Where middleware of Express or Connect is mounted, its path is cut off `url`.
    const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/';
    if (this.options.route === null) {
      if (name === undefined) return this.#routes.byUrl(method, url);
      return this.#routes.byName(`${method} ${name}`, method, name);
    }
    const given = this.options.route(req);
    if (typeof given !== 'string') {
      throw new MillraceError(
        'MILLRACE_E_BAD_RESULT',
        `option 'route' returned ${show(given)} for ${method} ${show(url)}; it must return a name`,
      );
    }
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    return this.#routes.byName(given, method, name ?? path);
  }

  /** The class of a request: by function, header, what an adapter knows of its route, or pattern. */
  classOf(req: IncomingMessage, route: Route, known?: RequestClass): ClassIndex {
    const { classify, classHeader } = this.options;
    if (classify !== null) {
      const name = classify(req);
      if (name !== undefined) {
        const cls = toClassIndex(name);
        if (cls === undefined) {
          throw new MillraceError(
            'MILLRACE_E_BAD_RESULT',
            `option 'classify' returned ${show(name)}; it must return 'high', 'normal', 'low', 'exempt', or undefined`,
          );
        }
        return cls;
      }
    }
    const byRoute = known === undefined ? route.cls : toClassIndex(known)!;
    // A probe that carries a client's header is still a probe.
    if (classHeader === null || byRoute === exempt) return byRoute;
    return classInHeader(req, classHeader) ?? byRoute;
  }

  /** A connection came in: the loop's turns between slices serve to accept more. */
  noticeConnection(): void {
    this.#slices.notice();
  }

  /** Runs the request now or later, or turns it away. Throws what the handler throws when it runs now. */
  admit(ticket: Ticket): void {
    const now = performance.now();
    const { cls, route } = ticket;
    ticket.arrivedMs = now;
    this.#slices.notice();
    if (this.#observer !== null) {
      this.#observe(this.#observer, ticket, now);
      return;
    }
    const busyMs = this.#time.busyFor(now);
    if (cls === exempt || this.#isClosed) {
      this.#run(ticket, now);
      return;
    }
    if (
      this.#waiting.size === 0 &&
      !this.#slices.isActive &&
      busyMs < this.#directMs(route) &&
      (!route.isAsync || this.#isGateOpen(now))
    ) {
      this.#run(ticket, now);
      this.#slices.restAfter(this.#tookMs);
      return;
    }
    ticket.predictedMs = this.#workBefore(cls, route);
    const wait = ticket.predictedMs * this.#corrections[cls]!.value;
    if (wait > this.#maxWaitMs[cls]! && this.#isPredictable(route, now)) {
      this.#turnAway(ticket, 'wait', wait, now);
      return;
    }
    if (this.#waiting.size >= this.options.maxQueue && !this.#makeRoom(cls, now)) {
      this.#turnAway(ticket, 'full', wait, now);
      return;
    }
    this.#queue(ticket);
  }

  /** Busy time of the loop up to which requests of a route run at once, in ms. What takes next to nothing may go on for longer. */
  #directMs(route: Route): number {
    const { slice } = this.options;
    const { extraMs, asyncMs } = this.#time;
    return costOf(route, extraMs, asyncMs) * cheapRuns < slice ? slice * cheapSlices : slice;
  }

  /**
   * Whether a prediction is good enough to refuse on. A queue that was never run from has costs of another time behind it: after its
   * first slice it is trimmed. And who only waits for the gate of a loop with plenty of time will not wait for long.
   */
  #isPredictable(route: Route, now: number): boolean {
    if (route.isAsync && this.#gate.isEasy(now)) return false;
    return this.#slices.count > 0 || !this.#slices.isActive;
  }

  /** For adapters with limits of their own: turns a request away that was not admitted. */
  reject(ticket: Ticket, reason: 'pressure' | 'unhealthy'): void {
    const now = performance.now();
    if (this.#observer !== null) {
      this.#counts[ticket.cls]!.wouldShed[reason]++;
      this.#run(ticket, now);
      return;
    }
    this.#turnAway(ticket, reason, 0, now);
  }

  #queue(ticket: Ticket): void {
    ticket.stage = 'queued';
    ticket.route.open++;
    ticket.context = captureContext('auto');
    this.#waiting.push(ticket);
    ticket.owner = this.#owner;
    ticket.watch();
    this.#wake();
  }

  /** Work in ms ahead of a request of that class. Of what is under way, half is done on average. */
  #workBefore(cls: ClassIndex, route: Route | null): number {
    const { extraMs, asyncMs } = this.#time;
    return this.#waiting.workBefore(cls, route, extraMs, asyncMs) + (this.#gate.size * asyncMs) / 2;
  }

  /** Hands a request to the application. */
  #run(ticket: Ticket, now: number): void {
    const isNew = ticket.stage === 'new';
    if (isNew) ticket.route.open++;
    ticket.stage = 'running';
    ticket.startedMs = now;
    const { context } = ticket;
    ticket.context = null;
    this.#counts[ticket.cls]!.admitted++;
    this.#inFlight++;
    try {
      if (context === null) ticket.run();
      else context.runInAsyncScope(ticket.run, ticket);
    } finally {
      this.#ran(ticket, isNew);
    }
  }

  /** The handler has returned, or thrown. */
  #ran(ticket: Ticket, isNew: boolean): void {
    const tookMs = performance.now() - ticket.startedMs;
    this.#tookMs = tookMs;
    const answered = ticket.finished();
    ticket.route.ran(tookMs, answered);
    this.#time.handled(ticket.startedMs, tookMs);
    this.#observer?.ran(ticket.cls, tookMs);
    // Its end was told while it ran.
    if (ticket.stage !== 'running') return;
    if (answered || ticket.gone()) {
      this.#over(ticket);
      return;
    }
    if (ticket.cls !== exempt) this.#gate.enter(ticket);
    if (!isNew) return;
    ticket.owner = this.#owner;
    ticket.watch();
  }

  #over(ticket: Ticket): void {
    ticket.stage = 'over';
    ticket.route.open--;
    this.#inFlight--;
  }

  /** The answer was sent, or the client has left. */
  #closed(ticket: Ticket): void {
    if (ticket.stage === 'queued') {
      this.#waiting.remove(ticket);
      ticket.stage = 'over';
      ticket.route.open--;
      this.#counts[ticket.cls]!.gone++;
      return;
    }
    if (ticket.stage !== 'running') return;
    const now = performance.now();
    const tookMs = now - ticket.startedMs;
    if (ticket.cls !== exempt) this.#gate.leave(ticket);
    this.#time.answered(tookMs);
    this.#over(ticket);
    this.#time.account(now);
    if (this.#gate.isDue(now)) this.#decide(now);
    this.#wake();
  }

  /** What slices see of the guard. */
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
        ticket.route.open--;
        this.#counts[cls]!.gone++;
        continue;
      }
      this.#corrections[cls]!.learn(waitMs, ticket.predictedMs);
      if (waitMs > this.#maxWaitMs[cls]! * ageTolerance && !this.#isClosed) {
        this.#shedQueued(ticket, 'age', waitMs, now);
        continue;
      }
      this.#counts[cls]!.ranAfter(waitMs);
      this.#run(ticket, now);
      return;
    }
  }

  #sliceOver(): void {
    const now = performance.now();
    this.#time.account(now);
    if (!this.#isClosed && !this.#gate.isEasy(now)) this.#trim(now);
  }

  #slicesEnded(): void {
    this.#time.paused(performance.now());
    // What waits, waits for the gate.
    this.#wake();
  }

  /**
   * Turns away what will not have its turn in time after all: costs are known better now than when it came. The newest of the route
   * with the most work goes first, from the class that waits longest.
   */
  #trim(now: number): void {
    for (let cls: ClassIndex = low; cls >= high; cls--) {
      const limitMs = this.#maxWaitMs[cls]! * ageTolerance;
      for (;;) {
        const ticket = this.#waiting.newestOfMostWork(cls as ClassIndex);
        if (ticket === null) break;
        const ownMs = costOf(ticket.route, this.#time.extraMs, this.#time.asyncMs);
        const before = this.#workBefore(cls as ClassIndex, null) - ownMs;
        const waitMs = before * this.#corrections[cls]!.value;
        if (waitMs <= limitMs) break;
        this.#waiting.remove(ticket);
        this.#shedQueued(ticket, 'wait', waitMs, now);
      }
    }
  }

  /** Room in a full queue for a request of that class, if one of a class below can give way. */
  #makeRoom(cls: ClassIndex, now: number): boolean {
    const ticket = this.#waiting.newestBelow(cls);
    if (ticket === null) return false;
    this.#waiting.remove(ticket);
    this.#shedQueued(ticket, 'full', now - ticket.arrivedMs, now);
    return true;
  }

  #shedQueued(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    ticket.route.open--;
    this.#turnAway(ticket, reason, waitMs, now);
  }

  /** Answers a request in the application's place: with a stale copy if there is one, else with a refusal, a little later. */
  #turnAway(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    ticket.stage = 'shed';
    // Its answer is given from a timer that others share, or from a slice.
    ticket.context ??= captureContext('auto');
    this.#lastShedMs = now;
    if (this.caches.size === 0 || !ticket.hasResponse()) this.#refuse(ticket, reason, waitMs, now);
    else runInContext(ticket.context, () => void this.#answerStale(ticket, reason, waitMs), null);
  }

  async #answerStale(ticket: Ticket, reason: ShedReason, waitMs: number): Promise<void> {
    const { res } = ticket;
    const headers = res.getHeaders();
    for (const cache of this.caches) {
      try {
        const answered = cache.answer(ticket.req, ticket.res);
        // Not awaited unless it has to be: an answer at hand is given in this turn.
        if (answered !== true && (answered === false || !(await answered))) continue;
        ticket.stage = 'over';
        this.#counts[ticket.cls]!.stale++;
        ticket.answered();
        return;
      } catch (error) {
        process.emitWarning(`A cache of the guard failed: ${show(error)}`, 'MillraceWarning');
        if (!res.headersSent) {
          // Those of a copy that was not sent do not belong to a refusal.
          for (const name of res.getHeaderNames()) {
            if (!(name in headers)) res.removeHeader(name);
          }
          continue;
        }
        ticket.stage = 'over';
        this.#counts[ticket.cls]!.stale++;
        res.destroy();
        return;
      }
    }
    this.#refuse(ticket, reason, waitMs, performance.now());
  }

  #refuse(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    const { onShed } = this.options;
    this.#counts[ticket.cls]!.shed[reason]++;
    ticket.route.shed++;
    const rejection = { reason, waitMs, retryAfterSeconds: this.#retryAfter() };
    if (this.#isClosed) {
      ticket.stage = 'over';
      runInContext(ticket.context, () => ticket.shed(rejection), null);
    } else {
      this.#rejections.add(ticket, rejection, now);
    }
    if (onShed === null) return;
    try {
      onShed({
        class: classNames[ticket.cls]!,
        route: ticket.route.name,
        reason,
        waitMs,
        req: ticket.req,
      });
    } catch (error) {
      // Not here, in the middle of what others wait for.
      throwLater(error);
    }
  }

  /** Seconds until what waits now will have been done, and one at least. */
  #retryAfter(): number {
    const { retryAfter } = this.options;
    if (retryAfter !== 'auto') return retryAfter;
    const waitMs = this.#workBefore(low, null) * this.#corrections[low]!.value;
    return Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
  }

  #observe(observer: Observer, ticket: Ticket, now: number): void {
    const wait = observer.arrived(now, ticket);
    if (wait > this.#maxWaitMs[ticket.cls]!) {
      this.#counts[ticket.cls]!.wouldShed.wait++;
    } else if (ticket.route.isAsync) {
      observer.admitted(ticket.cls, this.#time.asyncMs);
    }
    this.#run(ticket, now);
  }

  #isGateOpen(now: number): boolean {
    if (this.#isClosed || this.#gate.isOpen()) return true;
    if (!this.#gate.isDue(now)) return false;
    this.#decide(now);
    return this.#gate.isOpen();
  }

  #decide(now: number): void {
    this.#time.utilization(now, (share) => this.#gate.decide(now, share, this.#time.asyncMs));
  }

  /** Whether something that waits may be run now. */
  #canRun(now: number): boolean {
    return this.#waiting.size > 0 && (this.#isGateOpen(now) || this.#waiting.hasSync);
  }

  /** Sees to it that what waits is run: in slices, or, while the gate is shut to all of it, when something under way is over. */
  #wake(): void {
    if (this.#waiting.size === 0 || this.#slices.isActive) return;
    if (this.#canRun(performance.now())) this.#slices.start();
    else this.#armGateTimer();
  }

  /** What is under way may never be over; and a loop with time to spare opens the gate. */
  #armGateTimer(): void {
    if (this.#gateTimer !== null) return;
    this.#gateTimer = setTimeout(() => {
      this.#gateTimer = null;
      this.#wake();
    }, gateRetryMs);
    // Those who wait have connections, which keep the process alive.
    this.#gateTimer.unref();
  }

  #stopGateTimer(): void {
    if (this.#gateTimer !== null) clearTimeout(this.#gateTimer);
    this.#gateTimer = null;
  }
}
