import type { LinkStats } from '../broker/link-stats.js';
import type { Durations } from './durations.js';
import type { Scheduler } from './scheduler.js';

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
  readonly waitMs: PoolTimes;
  readonly runMs: PoolTimes;
  readonly memory: {
    /** What the workers may grow to, as far as `resourceLimits` says it, and what there is for this process. */
    readonly reservedBytes: number;
    readonly limitBytes: number;
  };
  /** Of a pool with `broker`: there what waits is not stored yet, what runs is stored and not answered, and batches are messages. */
  readonly durable?: DurableStats;
}

/** What a pool with a broker says beside the rest. */
export interface DurableStats {
  /** Messages that the broker has stored; those that were sent again until it said so. */
  readonly stored: number;
  readonly resent: number;
  /** Calls that were refused as another task of their id was stored before. */
  readonly duplicates: number;
  /** Results that came again, or for calls that had been given up. */
  readonly repeated: number;
  readonly link: LinkStats;
}

export function statsOf({
  fleet,
  waiting,
  maxQueue,
  counts,
  running,
  throttled,
  waitTimes,
  runTimes,
}: Scheduler): PoolStats {
  const [high, normal, low] = waiting.sizes();
  let ahead = 0;
  let ready = 0;
  let busy = 0;
  for (const thread of fleet.threads) {
    ahead += thread.ahead;
    if (thread.isReady) ready++;
    if (thread.inFlight > 0) busy++;
  }
  const { completed, failed, refused, batches, batched, ...others } = counts;
  const total = fleet.threads.length;
  return {
    queued: { high, normal, low, ahead, total: waiting.size + ahead },
    maxQueue,
    running: running - ahead,
    completed,
    failed,
    refused,
    workers: { total, ready, busy, idle: total - busy },
    minThreads: fleet.minThreads,
    maxThreads: fleet.maxThreads,
    batches,
    meanBatch: batches === 0 ? 0 : batched / batches,
    ...others,
    throttled,
    waitMs: timesOf(waitTimes),
    runMs: timesOf(runTimes),
    memory: {
      reservedBytes: fleet.reservedBytes,
      limitBytes: fleet.memory.look().limitBytes,
    },
  };
}

function timesOf(times: Durations | null): PoolTimes {
  if (times === null || times.count === 0) return { count: 0, mean: 0, p50: 0, p99: 0, max: 0 };
  return {
    count: times.count,
    mean: times.meanMs,
    p50: times.percentile(50),
    p99: times.percentile(99),
    max: times.maxMs,
  };
}
