/** The limits of under-pressure: what is sampled, how often, and which limit a sample exceeds. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { type Limits, resolutionMs } from './limits.js';
import {
  type MemoryUsage,
  TYPE_EVENT_LOOP_DELAY,
  TYPE_EVENT_LOOP_UTILIZATION,
  TYPE_HEAP_USED_BYTES,
  TYPE_RSS_BYTES,
} from './types.js';

/** A limit that is exceeded, by what. */
export interface Excess {
  readonly type: string;
  readonly value: number | undefined;
}

/** Samples for as long as it is not closed. It keeps no process alive. Costs a timer of the system each 10 ms, as the histogram needs it. */
export class Pressure {
  usage: MemoryUsage = { eventLoopDelay: 0, rssBytes: 0, heapUsed: 0, eventLoopUtilized: 0 };
  /** The first limit of delay, heap and RSS that the last sample exceeds; and that of utilization, which comes after the health check. */
  first: Excess | null = null;
  last: Excess | null = null;

  readonly #limits: Limits;
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #elu: typeof performance.eventLoopUtilization;
  #since: ReturnType<typeof performance.eventLoopUtilization> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#histogram.enable();
    // Not every runtime has it.
    this.#elu = performance.eventLoopUtilization ?? (() => undefined);
    this.#since = this.#elu();
    // Started again when it has run, and not an interval: on a busy loop that would run it time and again.
    this.#timer = setTimeout(() => {
      this.#sample();
      this.#timer.refresh();
    }, limits.sampleIntervalMs);
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#histogram.disable();
  }

  #sample(): void {
    const { rss, heapUsed } = process.memoryUsage();
    const eventLoopDelay = this.#delay();
    const eventLoopUtilized = this.#utilization();
    this.usage = { eventLoopDelay, rssBytes: rss, heapUsed, eventLoopUtilized };
    const { max } = this.#limits;
    this.first =
      excess(TYPE_EVENT_LOOP_DELAY, eventLoopDelay, max.eventLoopDelay) ??
      excess(TYPE_HEAP_USED_BYTES, heapUsed, max.heapUsedBytes) ??
      excess(TYPE_RSS_BYTES, rss, max.rssBytes);
    this.last = excess(TYPE_EVENT_LOOP_UTILIZATION, eventLoopUtilized, max.eventLoopUtilization);
  }

  #delay(): number {
    const { mean } = this.#histogram;
    this.#histogram.reset();
    // No number: the loop has not turned once since the last sample.
    return Number.isNaN(mean) ? Number.POSITIVE_INFINITY : Math.max(0, mean / 1e6 - resolutionMs);
  }

  #utilization(): number {
    if (this.#since === undefined) return 0;
    if (this.#limits.utilizationSinceStart) return this.#elu(this.#since).utilization;
    const now = this.#elu();
    const { utilization } = this.#elu(now, this.#since);
    this.#since = now;
    return utilization;
  }
}

function excess(type: string, value: number, limit: number): Excess | null {
  return limit > 0 && value > limit ? { type, value } : null;
}
