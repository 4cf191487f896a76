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
    const fleet = this.#fleet;
    const { waiting } = this.#tasks;
    if (fleet.wants(waiting.size, meanMs)) return this.#start();
    if (fleet.size === 0 && waiting.size > 0 && fleet.isHopeless) return false;
    // Tasks may need longer than they did, or need one another.
    if (fleet.size < fleet.maxThreads && this.#timer === null) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        if (waiting.size === 0) return;
        if (fleet.wants(waiting.size, null)) this.#start();
        this.#dispatch();
      }, fleet.startMs);
      this.#timer.unref();
    }
    return false;
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
