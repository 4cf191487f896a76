/** Starts workers for what waits, now or after a while; tasks that need a worker that cannot be started are rejected. */
import { clearTimeout, performance, setTimeout } from '../core/timers.cjs';
import type { AllocationReason } from './allocations.js';
import { WAITING } from './board.cjs';
import { cannotStart } from './failure.js';
import type { Fleet } from './fleet.js';
import type { OpenTasks } from './open-tasks.js';
import type { Settings } from './options.js';

export class Growth {
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #dispatch: () => void;
  /** Whether tasks that were sent are ever taken back for another worker. */
  readonly #steals: boolean;
  #timer: NodeJS.Timeout | null = null;

  constructor({ maxBatch }: Settings, fleet: Fleet, tasks: OpenTasks, dispatch: () => void) {
    this.#steals = maxBatch !== 1;
    this.#fleet = fleet;
    this.#tasks = tasks;
    this.#dispatch = dispatch;
  }

  /** Another worker for what waits. True if there is one now. */
  grow(meanMs: number | null): boolean {
    return this.#fleet.wants(this.#tasks.waiting.size, meanMs) && this.#start();
  }

  /**
   * Looks again after the time that a start takes: tasks may need longer than they did, or need one another, those that wait as well as
   * those that were sent to a worker and stand there behind another.
   */
  watch(): void {
    const fleet = this.#fleet;
    if (this.#timer !== null || fleet.size >= fleet.maxThreads) return;
    if (fleet.size === 0 && fleet.isHopeless) return;
    const isBehind = this.#steals && fleet.threads.some(({ ahead }) => ahead > 0);
    if (this.#tasks.waiting.size === 0 && !isBehind) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const late = this.#tasks.waiting.size + (this.#steals ? standing(fleet) : 0);
      // One that is starting takes what stands only when it is ready.
      const free = fleet.threads.filter(({ inFlight, retiring }) => inFlight === 0 && !retiring);
      if (late > free.length && fleet.wants(late, null)) this.#start();
      this.#dispatch();
    }, fleet.startMs);
    this.#timer.unref();
  }

  #start(): boolean {
    try {
      this.#fleet.start('load');
      return true;
    } catch (error) {
      this.#cannotStart(error);
      return false;
    }
  }

  /** Starts the minimum. */
  startMinimum(reason: AllocationReason): void {
    try {
      this.#fleet.startMinimum(reason);
    } catch (error) {
      this.#cannotStart(error);
    }
  }

  #cannotStart(error: unknown): void {
    if (this.#fleet.size === 0) this.#tasks.rejectWaiting(() => cannotStart(error));
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}

/**
 * Tasks that can be taken back and stand behind one that has run for so long that another worker would be there by now, or that was
 * asked to stop.
 */
function standing({ threads, startMs }: Fleet): number {
  const nowMs = performance.now();
  let count = 0;
  for (const thread of threads) {
    if (thread.ahead === 0) continue;
    const { current } = thread;
    const isHeld = current !== null && thread.ranMs(current, nowMs) >= startMs;
    if (!isHeld && !thread.isStopping) continue;
    for (const task of thread.pending()) if (!task.moves && thread.word(task) === WAITING) count++;
  }
  return count;
}
