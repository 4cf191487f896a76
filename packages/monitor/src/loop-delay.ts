/** How long turns of the loop took lately: a histogram of the last window. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Times in ms over the last window; all 0 if there was no turn in it. */
export interface LoopDelay {
  /** Turns of the loop in the window. */
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

const none: LoopDelay = { count: 0, min: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 };

/** The window moves by one slice at a time. */
const slices = 4;
const nsPerMs = 1e6;
const hourNs = 3600 * 1000 * nsPerMs;
/** 1 % of the value, from 1 µs to an hour: 25 KB each. */
const range = { lowest: 1000, highest: hourNs, figures: 2 };

/** Pure except for its histograms: the caller gives the time, which must not go back. */
export class DelayWindow {
  readonly #ring: RecordableHistogram[] = [];
  readonly #sum = createHistogram(range);
  readonly #sliceMs: number;
  #newest: number;

  constructor(windowMs: number, at: number) {
    this.#sliceMs = windowMs / slices;
    this.#newest = Math.floor(at / this.#sliceMs);
    for (let i = 0; i < slices; i++) this.#ring.push(createHistogram(range));
  }

  record(ms: number, at: number): void {
    this.#advance(at);
    const ns = Math.min(hourNs, Math.max(1, Math.round(ms * nsPerMs)));
    this.#ring[this.#newest % slices]!.record(ns);
  }

  read(at: number): LoopDelay {
    this.#advance(at);
    const sum = this.#sum;
    sum.reset();
    for (const slice of this.#ring) if (slice.count > 0) sum.add(slice);
    if (sum.count === 0) return none;
    const percentile = (p: number) => sum.percentile(p) / nsPerMs;
    return {
      count: sum.count,
      min: sum.min / nsPerMs,
      mean: sum.mean / nsPerMs,
      p50: percentile(50),
      p90: percentile(90),
      p99: percentile(99),
      max: sum.max / nsPerMs,
    };
  }

  /** Empties the slices that have come into the window since. */
  #advance(at: number): void {
    const slice = Math.floor(at / this.#sliceMs);
    if (slice === this.#newest) return;
    const first = Math.max(this.#newest + 1, slice - slices + 1);
    for (let i = first; i <= slice; i++) this.#ring[i % slices]!.reset();
    this.#newest = slice;
  }
}
