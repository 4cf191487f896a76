/** Starts workers for what waits, now or after a while; tasks that need a worker that cannot be started are rejected. */
import { clearTimeout, setTimeout } from '../core/timers.cjs';
import type { AllocationReason } from './allocations.js';
import { cannotStart } from './failure.js';
import type { Fleet } from './fleet.js';
import type { OpenTasks } from './open-tasks.js';

export class Growth {
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #dispatch: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(fleet: Fleet, tasks: OpenTasks, dispatch: () => void) {
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
    if (this.#tasks.waiting.size === 0 && fleet.threads.every(({ ahead }) => ahead === 0)) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const late = this.#tasks.waiting.size + standing(fleet);
      if (late > 0 && fleet.wants(late, null)) this.#start();
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

/** Tasks that stand behind one which has run for so long that another worker would be there by now. */
function standing({ threads, startMs }: Fleet): number {
  const nowMs = performance.now();
  let count = 0;
  for (const thread of threads) {
    if (thread.ahead > 0 && (thread.isStopping || thread.ranMs(nowMs) >= startMs))
      count += thread.ahead;
  }
  return count;
}
