/**
 * A histogram of times with a relative error of 3 %, or 1 µs if that is more. node:perf_hooks has one whose `record()` takes longer than the
 * whole of a small task's way through a pool; here it is some arithmetic and an increment. 7 KB.
 */

const octaveBits = 5;
/** Buckets for each doubling. */
const perOctave = 1 << octaveBits;
const longestUs = 2 ** 31 - 1;
const buckets = (31 - octaveBits + 1) * perOctave;

/** Times in ms. Without any, the means and `stddev` are NaN, the others 0. */
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

  /** Counts those of another one, too. */
  add(other: Durations): void {
    this.count += other.count;
    this.#sumMs += other.#sumMs;
    this.#squares += other.#squares;
    this.#minMs = Math.min(this.#minMs, other.#minMs);
    this.#maxMs = Math.max(this.#maxMs, other.#maxMs);
    for (let bucket = 0; bucket < buckets; bucket++) {
      this.#counts[bucket]! += other.#counts[bucket]!;
    }
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

  /** Percentile of the times in ms. 0 without any. */
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
