/** The workers of a pool: when one starts, when one ends, and how many there are. */
import { clearTimeout, performance, setTimeout } from '../core/timers.cjs';
import type { AllocationReason } from './allocations.js';
import { MemoryWatch, workerBytes } from './memory.js';
import type { Settings } from './options.js';
import { wantsWorker } from './sizing.js';
import { Thread, type ThreadEvents } from './thread.js';

/** How long a start is assumed to take, in ms, until one has been measured. */
const usualStartMs = 40;
/** How many workers in a row may end by themselves before running a task, until it is no use to start more. */
const hopeless = 3;

export interface FleetEvents extends ThreadEvents {
  /** A worker is there; before it is ready if it is one of the first. */
  created(thread: Thread): void;
  /** A worker gets nothing more, and ends. */
  removed(thread: Thread): void;
  allocated(reason: AllocationReason): void;
}

export class Fleet {
  /** Those that get tasks, and those that retire, until they end. */
  threads: Thread[] = [];
  /** Those that were told to end, until they have. */
  readonly ending = new Set<Promise<number>>();
  minThreads: number;
  maxThreads: number;
  readonly memory = new MemoryWatch();
  readonly #settings: Settings;
  readonly #events: FleetEvents;
  /** What a worker may grow to. */
  #bytes: number;
  #startMs = usualStartMs;
  /** Workers that ended before they were ready, or had a task, since the last that ran one. */
  #failures = 0;
  #idleTimer: NodeJS.Timeout | null = null;
  /** No more workers start. */
  closed = false;

  constructor(settings: Settings, events: FleetEvents) {
    this.#settings = settings;
    this.#events = events;
    this.minThreads = settings.minThreads;
    this.maxThreads = settings.maxThreads;
    this.#bytes = workerBytes(settings.worker.resourceLimits);
  }

  /** Workers that get tasks. */
  get size(): number {
    let size = 0;
    for (const thread of this.threads) if (!thread.retiring) size++;
    return size;
  }

  get startMs(): number {
    return this.#startMs;
  }

  get reservedBytes(): number {
    return this.threads.length * this.#bytes;
  }

  /** It is no use starting workers: they end by themselves. */
  get isHopeless(): boolean {
    return this.#failures >= hopeless;
  }

  /** Lets one more try be made. */
  hope(): void {
    if (this.isHopeless) this.#failures = hopeless - 1;
  }

  /** Whether tasks that wait are worth another worker, and there is room for it. */
  wants(waiting: number, meanTaskMs: number | null): boolean {
    const { size: workers, maxThreads: max } = this;
    if (workers >= max || this.closed || this.isHopeless) return false;
    if (!wantsWorker({ waiting, workers, max, meanTaskMs, startMs: this.#startMs })) return false;
    return this.admits();
  }

  /** Whether there is memory for another one. */
  admits(): boolean {
    return this.memory.admits(this.reservedBytes, this.#bytes);
  }

  /** Starts the minimum. */
  startMinimum(reason: AllocationReason | null): void {
    while (this.size < this.minThreads && !this.closed && !this.isHopeless) {
      if (!this.admits()) return;
      this.start(reason);
    }
  }

  /** Starts one. Throws what `new Worker()` throws. */
  start(reason: AllocationReason | null): Thread {
    const thread = new Thread(this.#settings, this.#events, performance.now());
    this.threads.push(thread);
    this.#events.created(thread);
    if (reason !== null) this.#events.allocated(reason);
    return thread;
  }

  /** It has started. */
  started(thread: Thread): void {
    // Now it says which limits it has that were not asked for.
    this.#bytes = workerBytes(this.#settings.worker.resourceLimits, thread.worker.resourceLimits);
    this.#startMs += (performance.now() - thread.startedMs - this.#startMs) / 4;
    if (thread.inFlight === 0) this.becameIdle(thread);
  }

  /** It has ended, or is ended now: it is not part of the pool any more. False if it was not before. */
  remove(thread: Thread): boolean {
    const index = this.threads.indexOf(thread);
    if (index === -1) return false;
    this.threads.splice(index, 1);
    this.#events.removed(thread);
    return true;
  }

  /** One has ended by itself, and no task is why. */
  failed(): void {
    this.#failures++;
  }

  /** One has run a task. */
  worked(): void {
    this.#failures = 0;
  }

  /** Ends it at once. */
  end(thread: Thread): Promise<number> {
    this.remove(thread);
    const ended = thread.terminate();
    this.ending.add(ended);
    return ended.finally(() => this.ending.delete(ended));
  }

  /** It has no tasks: it ends if it has to, or after some time if there are more than the minimum. */
  becameIdle(thread: Thread): void {
    thread.idleSinceMs = performance.now();
    if (thread.retiring) {
      void this.end(thread);
      return;
    }
    if (this.size > this.minThreads) this.#watchIdle(this.#settings.idleTimeout);
  }

  /** Ends the idle ones that are too many for a new maximum; the others retire as they get done. */
  resize(minThreads: number, maxThreads: number): void {
    this.minThreads = minThreads;
    this.maxThreads = maxThreads;
    const active = this.threads.filter((thread) => !thread.retiring);
    active.sort((a, b) => b.inFlight - a.inFlight);
    for (const thread of active.slice(maxThreads)) {
      thread.retiring = true;
      if (thread.inFlight === 0) void this.end(thread);
    }
    this.#events.allocated('share');
  }

  close(): void {
    this.closed = true;
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
  }

  #watchIdle(ms: number): void {
    if (this.#idleTimer !== null || ms === Number.POSITIVE_INFINITY || this.closed) return;
    this.#idleTimer = setTimeout(() => this.#endIdle(), ms);
    this.#idleTimer.unref();
  }

  #endIdle(): void {
    this.#idleTimer = null;
    const { idleTimeout } = this.#settings;
    const nowMs = performance.now();
    let next = Number.POSITIVE_INFINITY;
    // The last one: when there are few tasks, the first ones get them.
    for (const thread of this.threads.toReversed()) {
      if (this.size <= this.minThreads) return;
      if (thread.inFlight > 0 || thread.retiring || !thread.isReady) continue;
      // Timers may be early by a fraction of a ms.
      const leftMs = thread.idleSinceMs + idleTimeout - nowMs - 1;
      if (leftMs > 0) {
        next = Math.min(next, leftMs);
        continue;
      }
      void this.end(thread);
      this.#events.allocated('idle');
    }
    if (next < Number.POSITIVE_INFINITY) this.#watchIdle(next + 1);
  }
}
