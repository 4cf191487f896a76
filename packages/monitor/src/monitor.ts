/**
 * A monitor of this thread's event loop. The sampler of base tells it of each turn, and between two turns of one that is too long
 * already; what a turn took counts from the making of the monitor. A probe wakes the loop only while the loop is busy or over its
 * limit, so that an idle process stays asleep.
 */
import { EventEmitter } from 'node:events';
import { limits } from '@millrace/base/limits/limits';
import { checkIdleTime, idleTime, now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import { parseValue } from '@millrace/base/options';
import { announce } from '@millrace/base/sources';
import {
  type Health,
  HealthReport,
  kernelCounts,
  ofThread,
  type ProcessMemory,
  type Snapshot,
} from './health.js';
import {
  type Change,
  DelayWindow,
  type GcStats,
  GcTotals,
  gcObserver,
  type LoopDelay,
  Overload,
  type OverloadOptions,
  SlidingUtilization,
} from './measures.js';
import {
  type CheckedOptions,
  intervalField,
  limitField,
  type MonitorOptions,
  monitorOptions,
} from './options.js';

/** The probe runs soon enough after a sleep for precise marks of idle time. */
const probesPerWindow = 20;
/** Time in ms after which a memory limit is read again. */
const limitAgeMs = 1000;

/** Events of a monitor. */
export interface MonitorEvents {
  /** The loop has been blocked for more than `limit`. */
  load: [];
  /** The loop has been calm for `calm` samples. */
  unload: [];
}

/**
 * Watches the event loop of the thread that makes it, until {@link stop}. It keeps no process alive, and wakes no loop that
 * sleeps. Made by {@link monitor}.
 *
 * @fires load when the loop has been blocked for more than `limit` ms
 * @fires unload when it has been calm since: `calm` samples of at most `lower` ms, `sampleInterval` ms apart
 */
export class Monitor extends EventEmitter<MonitorEvents> {
  /** Duration of the last turn of the loop in ms, without sleep. 0 before the first turn. */
  delay = 0;

  readonly #options: CheckedOptions;
  readonly #overload = new Overload();
  readonly #delays: DelayWindow;
  readonly #utilization: SlidingUtilization;
  readonly #gc: GcTotals;
  readonly #watcher: Watcher;
  readonly #health = new HealthReport();
  readonly #since: number;
  #isStopped = false;
  /** Thresholds as they are now: two of them can be set. */
  readonly #thresholds: OverloadOptions;
  #memoryLimit: { readonly bytes: number; readonly at: number } | null = null;

  /**
   * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a name it does not know or a value out of range, `MILLRACE_E_RUNTIME` on
   * Bun and Deno
   */
  constructor(options: MonitorOptions = {}) {
    checkIdleTime('monitor()');
    super();
    this.#options = monitorOptions(options);
    const { limit, lower = limit / 2, calm, sampleInterval } = this.#options;
    this.#thresholds = { limit, lower, calm, sampleInterval };
    const at = now();
    const idle = idleTime();
    this.#since = at;
    this.#delays = new DelayWindow(this.#options.window, at);
    this.#utilization = new SlidingUtilization(this.#options.window, at, idle);
    this.#gc = new GcTotals(at);
    this.#watcher = this.#watch();
    sampler.add(this.#watcher);
    gcObserver.add(this.#gc);
    announce('monitor', this as Monitor, (each) => (each.#isStopped ? null : each.snapshot()));
  }

  /** Delay in ms above which `load` is emitted. Can be set: above 0, up to 3,600,000. */
  get limit(): number {
    return this.#thresholds.limit;
  }

  set limit(ms: number) {
    const limit = parseValue('monitor()', 'limit', ms, limitField);
    Object.assign(this.#thresholds, { limit, lower: this.#options.lower ?? limit / 2 });
  }

  /** Time in ms between samples while the loop is over its limit. Can be set: above 0, up to 60,000. */
  get sampleInterval(): number {
    return this.#thresholds.sampleInterval;
  }

  set sampleInterval(ms: number) {
    this.#thresholds.sampleInterval = parseValue('monitor()', 'sampleInterval', ms, intervalField);
  }

  /** True while the loop is over its limit: from `load` to `unload`. */
  get overLimit(): boolean {
    return this.#overload.overLimit;
  }

  /** Busy share of the loop, 0 to 1, over the last `window` ms, or since the monitor was made if that is less. About 1 µs. */
  get utilization(): number {
    return this.#utilization.read(now(), idleTime());
  }

  /**
   * Distribution of the delay over the last `window` ms: the durations of turns of the loop without sleep. In ms, to 1 %.
   * Some 10 µs.
   */
  get loopDelay(): LoopDelay {
    return this.#delays.read(now());
  }

  /** Pauses of the garbage collector since the monitor was made, by kind. */
  get gc(): GcStats {
    return this.#gc.read();
  }

  /** Memory of the process and this thread. Tens of µs; the limit is read again each second at the most. */
  get memory(): ProcessMemory {
    const at = now();
    if (this.#memoryLimit === null || at - this.#memoryLimit.at > limitAgeMs) {
      this.#memoryLimit = { bytes: limits().memoryBytes, at };
    }
    return { ...ofThread(), limit: this.#memoryLimit.bytes };
  }

  /**
   * Returns all of the above as plain data, and context switches and system calls: for a log or a response in JSON. Some 50
   * µs.
   */
  snapshot(): Snapshot {
    return {
      delay: this.delay,
      limit: this.limit,
      overLimit: this.overLimit,
      utilization: this.utilization,
      loopDelay: this.loopDelay,
      gc: this.gc,
      memory: this.memory,
      kernel: kernelCounts(),
    };
  }

  /**
   * Returns the snapshot and figures of the system: uptime, load averages, cores and idle cores, memory and what is left of
   * it, task queues. Restricted to the resources of this process. Reads files of the kernel: a fraction of a ms.
   */
  health(): Health {
    return this.#health.read(this.snapshot(), this.#options.idleThreshold, this.#options.tasks);
  }

  /**
   * Stops watching; what was measured can still be read, but no longer counts in metrics. The last monitor of a thread gives everything
   * back.
   */
  stop(): void {
    this.#isStopped = true;
    sampler.remove(this.#watcher);
    gcObserver.remove(this.#gc);
  }

  #watch(): Watcher {
    const overload = this.#overload;
    const delays = this.#delays;
    const utilization = this.#utilization;
    const since = this.#since;
    const options = this.#thresholds;
    const mostProbeMs = this.#options.window / probesPerWindow;
    const tell = (change: Change) => {
      if (change !== null) this.emit(change);
    };
    // What the loop did before a monitor existed does not count for it. One that a listener makes is younger than `at`.
    const own = (busy: number, at: number) => Math.max(0, Math.min(busy, at - since));
    return {
      get probeMs() {
        return overload.overLimit ? options.sampleInterval : Math.min(options.limit, mostProbeMs);
      },
      get overLimit() {
        return overload.overLimit;
      },
      peek: (busy, at) => {
        const delay = own(busy, at);
        if (delay > this.delay) this.delay = delay;
        tell(overload.peek(delay, at, options));
      },
      turn: (busy, at, idle) => {
        const delay = own(busy, at);
        this.delay = delay;
        delays.record(delay, at);
        utilization.mark(at, idle);
        tell(overload.turn(delay, at, options));
      },
    };
  }
}

/**
 * Begins to watch the event loop of this thread.
 *
 * Replaces `loopbench` too: with the same options and defaults (`limit` 42 ms, `sampleInterval` 5 ms), `delay`, `limit`,
 * `sampleInterval`, `overLimit`, `stop()`, and the events `load` and `unload`.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for an unknown name or a value out of range, `MILLRACE_E_RUNTIME` on
 *   Bun and Deno
 */
export function monitor(options?: MonitorOptions): Monitor {
  return new Monitor(options);
}
