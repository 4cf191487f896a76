/** Pauses of the garbage collector, by kind. One observer for each thread, shared by all its monitors. */
import { constants, PerformanceObserver } from 'node:perf_hooks';

/** Kinds of garbage collection, as `perf_hooks` has them. */
export type GcKind = 'minor' | 'major' | 'incremental' | 'weakCallbacks';

/** How often the garbage collector has stopped the thread, and for how long. */
export interface GcPauses {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

/** Since the monitor was made. Node.js reports a pause one or two turns of the loop after it. */
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

  copy(): GcPauses {
    return { count: this.count, totalMs: this.totalMs, maxMs: this.maxMs };
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

  /** Since when they count, in ms. */
  constructor(readonly since: number) {}

  add(kind: GcKind | undefined, ms: number): void {
    this.#all.add(ms);
    if (kind !== undefined) this.#byKind[kind].add(ms);
  }

  read(): GcStats {
    const { minor, major, incremental, weakCallbacks } = this.#byKind;
    return {
      ...this.#all.copy(),
      byKind: {
        minor: minor.copy(),
        major: major.copy(),
        incremental: incremental.copy(),
        weakCallbacks: weakCallbacks.copy(),
      },
    };
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
