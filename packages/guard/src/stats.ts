/** Counters of a guard, as `guard.stats()` returns them. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { classNames, type RequestClass } from './classes.js';
import type { Cohort } from './cohorts.js';
import { type ShedReason, shedReasons } from './reasons.js';
import type { Route } from './routes.js';

/** Refused requests by reason. */
export type CountByReason = Record<ShedReason, number>;

/** Counters of one class of requests. */
export interface ClassStats {
  /** Requests waiting now. */
  queued: number;
  /** Requests admitted to run. */
  admitted: number;
  /** Requests that had to wait before they ran. */
  waited: number;
  /** Refused requests, by reason. */
  shed: CountByReason;
  /** Requests that would have been shed, under `observe`. */
  wouldShed: CountByReason;
  /** Under `observe`: responses that the loop has delayed for longer than the guard lets a request of the class wait. */
  late: number;
  /** Under `observe`: of these, responses that would have been in time; and responses in time that would have been refused. */
  wouldSave: number;
  wouldLose: number;
  /** Requests answered with a stale copy instead of a refusal. They are not in `shed`. */
  stale: number;
  /** Requests whose client left while they waited. */
  gone: number;
  /** Waits of the admitted requests in ms; requests that did not wait count as 0. */
  waitMs: { mean: number; p99: number; max: number };
}

/** Time for which a route kept the loop busy. */
export interface RouteStats {
  route: string;
  class: RequestClass;
  count: number;
  shed: number;
  /** Time for which its handlers kept the loop busy until they returned, in ms: total, mean, maximum. */
  busyMs: number;
  meanMs: number;
  maxMs: number;
}

/** Requests of one cohort, such as a tenant. */
export interface CohortStats {
  cohort: string;
  /** Requests that ran, that were refused, and, under `observe`, that would have been refused. */
  count: number;
  shed: number;
  wouldShed: number;
  /** Time for which its handlers kept the loop busy until they returned, in ms. */
  busyMs: number;
}

/** Snapshot that `Guard.stats()` returns. */
export interface GuardStats {
  /** Waiting requests, and the limit on them. */
  queued: number;
  maxQueue: number;
  /** Requests that async handlers have not answered yet, and the limit on them. */
  inFlight: number;
  concurrency: number;
  underPressure: boolean;
  /** Current delay of refusals in ms, and refusals that are delayed now. */
  rejectDelayMs: number;
  rejectionsHeld: number;
  classes: Record<RequestClass, ClassStats>;
  /** Routes, the one that kept the loop busy longest first. */
  routes: RouteStats[];
  /** Cohorts, the one that kept the loop busy longest first; none without the option `cohort`. */
  cohorts: CohortStats[];
}

export class ClassCounts {
  admitted = 0;
  waited = 0;
  stale = 0;
  gone = 0;
  late = 0;
  wouldSave = 0;
  wouldLose = 0;
  readonly shed = byReason();
  readonly wouldShed = byReason();
  #waitMs = 0;
  #maxWaitMs = 0;
  /** Histogram of the waits in µs of requests that waited. Created by the first one. */
  #waits: RecordableHistogram | null = null;

  ranAfter(waitMs: number): void {
    this.waited++;
    this.#waitMs += waitMs;
    if (waitMs > this.#maxWaitMs) this.#maxWaitMs = waitMs;
    this.#waits ??= createHistogram({ lowest: 1, highest: 600_000_000, figures: 2 });
    this.#waits.record(Math.min(600_000_000, Math.max(1, Math.round(waitMs * 1000))));
  }

  snapshot(): Omit<ClassStats, 'queued'> {
    return {
      admitted: this.admitted,
      waited: this.waited,
      shed: { ...this.shed },
      wouldShed: { ...this.wouldShed },
      late: this.late,
      wouldSave: this.wouldSave,
      wouldLose: this.wouldLose,
      stale: this.stale,
      gone: this.gone,
      waitMs: {
        mean: this.admitted === 0 ? 0 : this.#waitMs / this.admitted,
        p99: this.#percentile(99),
        max: this.#maxWaitMs,
      },
    };
  }

  /** Returns percentiles over all admitted requests: requests that did not wait come before the first of the histogram. */
  #percentile(percent: number): number {
    const above = this.admitted * (1 - percent / 100);
    if (this.#waits === null || above >= this.waited) return 0;
    return this.#waits.percentile(100 * (1 - above / this.waited)) / 1000;
  }
}

function byReason(): CountByReason {
  return Object.fromEntries(shedReasons.map((reason) => [reason, 0])) as CountByReason;
}

export function routeStats(routes: Iterable<Route>): RouteStats[] {
  const all: RouteStats[] = [];
  for (const route of routes) {
    const { name, cls, count, shed, busyMs, maxMs } = route;
    if (count + shed === 0) continue;
    const meanMs = count === 0 ? 0 : busyMs / count;
    all.push({ route: name, class: classNames[cls]!, count, shed, busyMs, meanMs, maxMs });
  }
  return all.sort((a, b) => b.busyMs - a.busyMs);
}

export function cohortStats(cohorts: Iterable<Cohort>): CohortStats[] {
  const all = Array.from(cohorts, ({ name, count, shed, wouldShed, busyMs }) => {
    return { cohort: name, count, shed, wouldShed, busyMs };
  });
  return all.sort((a, b) => b.busyMs - a.busyMs || b.shed - a.shed);
}
