/** Times and counters of a pool, as its users see them. */
import type { Durations, DurationsSummary } from '@millrace/base/durations';

export type { DurationsSummary };

/** Times of the tasks, as piscina reports them. */
export interface PoolHistogram {
  /** Times that tasks ran in ms; undefined with `recordTiming: false`. */
  readonly runTime: DurationsSummary | undefined;
  /** Times that tasks waited, from the call to when they began, in ms. */
  readonly waitTime: DurationsSummary | undefined;
  resetRunTime(): void;
  resetWaitTime(): void;
}

export function histogramOf(
  runTimes: Durations | null,
  waitTimes: Durations | null,
): PoolHistogram {
  return {
    get runTime() {
      return runTimes?.summary();
    },
    get waitTime() {
      return waitTimes?.summary();
    },
    resetRunTime: () => runTimes?.reset(),
    resetWaitTime: () => waitTimes?.reset(),
  };
}

/** Times in ms; 0 while there are none. */
export interface PoolTimes {
  /** Tasks that were timed. */
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What `Pool.stats()` returns: a snapshot. */
export interface PoolStats {
  /** Tasks that wait, here or in a worker for their turn. Those in workers are counted as `ahead` and in `total` alone. */
  readonly queued: {
    readonly high: number;
    readonly normal: number;
    readonly low: number;
    readonly ahead: number;
    readonly total: number;
  };
  /** How many tasks may wait. */
  readonly maxQueue: number;
  /** Tasks that run. */
  readonly running: number;
  /** Calls that have been answered; those of them that were rejected. */
  readonly completed: number;
  readonly failed: number;
  /** Calls for which there was no room. */
  readonly refused: number;
  readonly workers: {
    readonly total: number;
    readonly ready: number;
    readonly busy: number;
    readonly idle: number;
  };
  readonly minThreads: number;
  readonly maxThreads: number;
  /** Batches that were sent, and the tasks in one on average. */
  readonly batches: number;
  readonly meanBatch: number;
  /** Tasks that another worker took over before they began; that were put back as their worker ended; that began again. */
  readonly stolen: number;
  readonly requeued: number;
  readonly retried: number;
  readonly timedOut: number;
  /** Workers that ended without being told to. */
  readonly crashed: number;
  /** Memory is short: one task at a time. */
  readonly throttled: boolean;
  /** Workers that may have tasks at a time, as other programs use the cores; null while these leave enough, and without `idleCores`. */
  readonly coreLimit: number | null;
  readonly waitMs: PoolTimes;
  readonly runMs: PoolTimes;
  readonly memory: {
    /** What the workers may grow to, as far as `resourceLimits` says it, and what there is for this process. */
    readonly reservedBytes: number;
    readonly limitBytes: number;
  };
}

/** Null without a limit, which JSON has no number for. */
export const finite = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);

/** Times as `stats()` has them. */
export function timesOf(times: Durations | null): PoolTimes {
  if (times === null || times.count === 0) return { count: 0, mean: 0, p50: 0, p99: 0, max: 0 };
  return {
    count: times.count,
    mean: times.meanMs,
    p50: times.percentile(50),
    p99: times.percentile(99),
    max: times.maxMs,
  };
}
