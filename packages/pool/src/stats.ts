/** Times and counters of a pool, as its users see them. */
import type { Durations, DurationsSummary } from '@millrace/base/durations';

export type { DurationsSummary };

/** Times of the tasks, in piscina's form. */
export interface PoolHistogram {
  /** Run times of tasks in ms; undefined with `recordTiming: false`. */
  readonly runTime: DurationsSummary | undefined;
  /** Wait times of tasks in ms, from the call to the beginning. */
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

/** Times in ms; 0 without any. */
export interface PoolTimes {
  /** Tasks timed. */
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Running task. */
export interface RunningTask {
  /** Thread id of its worker. */
  readonly worker: number;
  /** Thread id of the system, for /proc; null outside Linux. */
  readonly systemThread: number | null;
  /** Name of its function in its file. */
  readonly name: string;
  readonly filename: string;
  /** Time in ms since it began. */
  readonly ranMs: number;
  /** Recent mean run time of the function's tasks in ms; null until one has ended. */
  readonly meanMs: number | null;
}

/** Snapshot that `Pool.stats()` returns. */
export interface PoolStats {
  /** Waiting tasks, here or in a worker. Those in workers are counted only as `ahead` and in `total`. */
  readonly queued: {
    readonly high: number;
    readonly normal: number;
    readonly low: number;
    readonly ahead: number;
    readonly total: number;
  };
  /** Limit on the waiting tasks. */
  readonly maxQueue: number;
  /** Running tasks. */
  readonly running: number;
  /** Oldest running task of each worker that has one. */
  readonly tasks: readonly RunningTask[];
  /** Settled calls; those among them that were rejected. */
  readonly completed: number;
  readonly failed: number;
  /** Calls refused because the queue was full. */
  readonly refused: number;
  readonly workers: {
    readonly total: number;
    readonly ready: number;
    readonly busy: number;
    readonly idle: number;
  };
  readonly minThreads: number;
  readonly maxThreads: number;
  /** Batches sent, and the mean number of tasks in one. */
  readonly batches: number;
  readonly meanBatch: number;
  /** Tasks that another worker took over before they began; tasks put back because their worker ended; tasks that were rerun. */
  readonly stolen: number;
  readonly requeued: number;
  readonly retried: number;
  readonly timedOut: number;
  /** Workers that ended unexpectedly. */
  readonly crashed: number;
  /** True while memory is short: one task runs at a time. */
  readonly throttled: boolean;
  /**
   * Limit on the workers with tasks because other programs use the cores; null while enough are idle, and without
   * `idleCores`.
   */
  readonly coreLimit: number | null;
  readonly waitMs: PoolTimes;
  readonly runMs: PoolTimes;
  readonly memory: {
    /** Memory that the workers may use by `resourceLimits`, and the memory of this process. */
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
