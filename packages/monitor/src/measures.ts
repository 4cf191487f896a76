/**
 * Measurements of a loop: recent durations of turns, utilization, overload, and the pauses of the garbage collector. All but
 * the last are pure: the caller gives time and idle time, which must not go back.
 *
 * Delays are kept in a ring of histograms, one for each slice of the window. Utilization comes out of a few marks of idle time; it is not
 * the estimator of the batch policies, whose 250 ms suit decisions in a burst and whose even spread hides what came after a long
 * sleep. The loop is over its limit from a turn above `limit` until `calm` samples in a row stayed at `lower` or below. Pauses are
 * observed once for each thread, for all its monitors.
 */
import {
  constants,
  createHistogram,
  PerformanceObserver,
  type RecordableHistogram,
} from 'node:perf_hooks';

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

/** The window moves in steps of a twentieth, and marks are that far apart at least. */
const steps = 20;

interface Mark {
  readonly at: number;
  readonly idle: number;
}

export class SlidingUtilization {
  /** Oldest first. The first one is at or before the beginning of the window, once there has been one. */
  readonly #marks: Mark[];
  readonly #windowMs: number;

  constructor(windowMs: number, at: number, idle: number) {
    this.#windowMs = windowMs;
    this.#marks = [{ at, idle }];
  }

  mark(at: number, idle: number): void {
    if (at - this.#marks.at(-1)!.at < this.#windowMs / steps) return;
    this.#marks.push({ at, idle });
    this.#forget(at - this.#windowMs);
  }

  /** 0 to 1: of the window, or of the time since the beginning while that is shorter. */
  read(at: number, idle: number): number {
    const begin = at - this.#windowMs;
    this.#forget(begin);
    const [first, second = { at, idle }] = this.#marks as [Mark, Mark?];
    const from = Math.max(begin, first.at);
    if (at <= from) return 0;
    // Between two marks the loop slept first: a mark is made soon after work and before a sleep that is long.
    const idleAtFrom = Math.min(first.idle + (from - first.at), second.idle);
    return Math.min(1, Math.max(0, 1 - (idle - idleAtFrom) / (at - from)));
  }

  #forget(before: number): void {
    while (this.#marks.length > 1 && this.#marks[1]!.at <= before) this.#marks.shift();
  }
}

export interface OverloadOptions {
  limit: number;
  lower: number;
  calm: number;
  sampleInterval: number;
}

export type Change = 'load' | 'unload' | null;

export class Overload {
  overLimit = false;
  #calm = 0;
  /** The worst of this sample, which began at `#since`. */
  #worst = 0;
  #since = 0;

  /** Told of a turn that is not over yet, which can only be too long. */
  peek(delay: number, at: number, { limit }: OverloadOptions): Change {
    if (delay <= limit) return null;
    this.#restart(at);
    if (this.overLimit) return null;
    this.overLimit = true;
    return 'load';
  }

  turn(delay: number, at: number, options: OverloadOptions): Change {
    if (delay > options.limit) return this.peek(delay, at, options);
    if (!this.overLimit) return null;
    if (delay > this.#worst) this.#worst = delay;
    // Timers count whole ms, and may come up to one of them early.
    if (at - this.#since < options.sampleInterval / 2) return null;
    const calm = this.#worst <= options.lower ? this.#calm + 1 : 0;
    this.#restart(at);
    this.#calm = calm;
    if (calm < options.calm) return null;
    this.overLimit = false;
    return 'unload';
  }

  #restart(at: number): void {
    this.#since = at;
    this.#worst = 0;
    this.#calm = 0;
  }
}

/** Kinds of garbage collection, as `perf_hooks` has them. */
export type GcKind = 'minor' | 'major' | 'incremental' | 'weakCallbacks';

/** Number and total time of the garbage collector's pauses. */
export interface GcPauses {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

/** Pauses since the monitor was created. Node.js reports a pause one or two turns of the loop after it. */
export interface GcStats extends GcPauses {
  readonly byKind: Readonly<Record<GcKind, GcPauses>>;
}

/** The minor mark-sweep has a name of its own in later releases only. */
const minorMarkSweep = 2;
const kinds = new Map<number, GcKind>([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [minorMarkSweep, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakCallbacks'],
]);

class Pauses implements GcPauses {
  count = 0;
  totalMs = 0;
  maxMs = 0;

  add(ms: number): void {
    this.count++;
    this.totalMs += ms;
    if (ms > this.maxMs) this.maxMs = ms;
  }
}

export class GcTotals {
  readonly #all = new Pauses();
  readonly #byKind = {
    minor: new Pauses(),
    major: new Pauses(),
    incremental: new Pauses(),
    weakCallbacks: new Pauses(),
  };

  /** `since`: time in ms from which on they count. */
  constructor(readonly since: number) {}

  add(kind: GcKind | undefined, ms: number): void {
    this.#all.add(ms);
    if (kind !== undefined) this.#byKind[kind].add(ms);
  }

  read(): GcStats {
    const kinds = Object.entries(this.#byKind).map(([kind, pauses]) => [kind, { ...pauses }]);
    return { ...this.#all, byKind: Object.fromEntries(kinds) };
  }
}

interface GcEntry {
  readonly startTime: number;
  readonly duration: number;
  readonly detail?: { readonly kind?: number };
}

class GcObserver {
  readonly #totals = new Set<GcTotals>();
  #observer: PerformanceObserver | null = null;

  add(totals: GcTotals): void {
    this.#totals.add(totals);
    if (this.#observer !== null) return;
    this.#observer = new PerformanceObserver((list) => this.#take(list.getEntries()));
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  remove(totals: GcTotals): void {
    if (!this.#totals.delete(totals) || this.#totals.size > 0) return;
    this.#observer?.disconnect();
    this.#observer = null;
  }

  #take(entries: readonly GcEntry[]): void {
    for (const { startTime, duration, detail } of entries) {
      const kind = kinds.get(detail?.kind ?? 0);
      for (const totals of this.#totals) if (startTime >= totals.since) totals.add(kind, duration);
    }
  }
}

export const gcObserver = new GcObserver();
