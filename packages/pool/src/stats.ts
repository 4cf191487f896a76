/**
 * Times and counters of a pool, as its users see them.
 *
 * Times go into a histogram with a relative error of 3 %, or 1 µs if that is more. node:perf_hooks has one whose `record()` takes
 * longer than the whole of a small task's way through the pool; here it is some arithmetic and an increment.
 */

const octaveBits = 5;
/** Buckets for each doubling. */
const perOctave = 1 << octaveBits;
const longestUs = 2 ** 31 - 1;
const buckets = (31 - octaveBits + 1) * perOctave;

/** Times in ms. While there is none the means and `stddev` are NaN, the others 0. */
export interface DurationsSummary {
  average: number;
  mean: number;
  stddev: number;
  min: number;
  max: number;
  p0_001: number;
  p0_01: number;
  p0_1: number;
  p1: number;
  p2_5: number;
  p10: number;
  p25: number;
  p50: number;
  p75: number;
  p90: number;
  p97_5: number;
  p99: number;
  p99_9: number;
  p99_99: number;
  p99_999: number;
}

export class Durations {
  readonly #counts = new Float64Array(buckets);
  count = 0;
  #sumMs = 0;
  #squares = 0;
  #minMs = Number.POSITIVE_INFINITY;
  #maxMs = 0;

  /** Times below 1 µs count as 1 µs. */
  record(ms: number): void {
    const clamped = ms > 0.001 ? ms : 0.001;
    this.count++;
    this.#sumMs += clamped;
    this.#squares += clamped * clamped;
    if (clamped < this.#minMs) this.#minMs = clamped;
    if (clamped > this.#maxMs) this.#maxMs = clamped;
    this.#counts[bucketOf(Math.min(longestUs, clamped * 1000) | 0)]!++;
  }

  reset(): void {
    this.#counts.fill(0);
    this.count = 0;
    this.#sumMs = 0;
    this.#squares = 0;
    this.#minMs = Number.POSITIVE_INFINITY;
    this.#maxMs = 0;
  }

  get meanMs(): number {
    return this.#sumMs / this.count;
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /** In ms: so many percent of the times are this or less. 0 while there is none. */
  percentile(percent: number): number {
    if (this.count === 0) return 0;
    let left = Math.max(1, Math.ceil((this.count * percent) / 100));
    for (let bucket = 0; bucket < buckets; bucket++) {
      left -= this.#counts[bucket]!;
      if (left <= 0) return Math.min(this.#maxMs, Math.max(this.#minMs, endOf(bucket) / 1000));
    }
    return this.#maxMs;
  }

  summary(): DurationsSummary {
    const mean = this.meanMs;
    return {
      average: mean,
      mean,
      stddev: Math.sqrt(Math.max(0, this.#squares / this.count - mean * mean)),
      min: this.count === 0 ? 0 : this.#minMs,
      max: this.#maxMs,
      p0_001: this.percentile(0.001),
      p0_01: this.percentile(0.01),
      p0_1: this.percentile(0.1),
      p1: this.percentile(1),
      p2_5: this.percentile(2.5),
      p10: this.percentile(10),
      p25: this.percentile(25),
      p50: this.percentile(50),
      p75: this.percentile(75),
      p90: this.percentile(90),
      p97_5: this.percentile(97.5),
      p99: this.percentile(99),
      p99_9: this.percentile(99.9),
      p99_99: this.percentile(99.99),
      p99_999: this.percentile(99.999),
    };
  }
}

/** Below `perOctave` µs each has a bucket; above it each doubling has that many. */
function bucketOf(us: number): number {
  if (us < perOctave) return us;
  const shift = 31 - Math.clz32(us) - octaveBits;
  return (shift + 1) * perOctave + (us >> shift) - perOctave;
}

/** The end of a bucket in µs. */
function endOf(bucket: number): number {
  if (bucket < perOctave) return bucket + 1;
  const shift = Math.floor(bucket / perOctave) - 1;
  return ((bucket % perOctave) + perOctave + 1) * 2 ** shift;
}

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
  readonly waitMs: PoolTimes;
  readonly runMs: PoolTimes;
  readonly memory: {
    /** What the workers may grow to, as far as `resourceLimits` says it, and what there is for this process. */
    readonly reservedBytes: number;
    readonly limitBytes: number;
  };
}

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
