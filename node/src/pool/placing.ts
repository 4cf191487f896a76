/** Which worker gets tasks, and how many of them. */
import { batchSize } from './batch-size.js';
import type { Fleet } from './fleet.js';
import type { Settings } from './options.js';
import type { Task } from './task.js';
import type { Thread } from './thread.js';
import type { LoadBalancer } from './user-queue.js';

export class Placing {
  readonly #settings: Settings;
  readonly #fleet: Fleet;

  constructor(settings: Settings, fleet: Fleet) {
    this.#settings = settings;
    this.#fleet = fleet;
  }

  /** Whether no other task may run beside it. */
  isAlone(task: Task): boolean {
    return this.#settings.concurrency > 1 && task.guarded;
  }

  /** A worker where a task would begin at once; the first of those with the least to do, so that the last ones become idle. */
  roomy(alone: boolean): Thread | null {
    let best: Thread | null = null;
    for (const thread of this.#fleet.threads) {
      if (!thread.hasRoom(alone)) continue;
      if (thread.inFlight === 0 && thread.isReady) return thread;
      if (best === null || thread.inFlight < best.inFlight) best = thread;
    }
    return best;
  }

  /**
   * A worker that has all that it can run, and may be sent more of a function. What moves its data to a worker could not be
   * taken back from there: it is not sent ahead.
   */
  takingAhead({ of, returns, moves }: Task): Thread | null {
    const { maxBatch } = this.#settings;
    if (maxBatch === 1 || returns > 0 || moves) return null;
    for (const thread of this.#fleet.threads) {
      if (!thread.takesAhead(of) || thread.room < maxBatch) continue;
      if (this.#tasksLeft(thread) > 0) return thread;
    }
    return null;
  }

  /** How many tasks of a function a worker gets, given the task whose turn it is and how many wait in its lane. */
  batchFor(thread: Thread, { of, returns }: Task, waiting: number): number {
    const { concurrency, maxBatch } = this.#settings;
    if (returns > 0) return 1;
    const free = Math.min(concurrency - thread.inFlight, maxBatch);
    if (!thread.isReady) return Math.max(1, free);
    const { meanMs, sendMs } = of;
    const workers = this.#fleet.size;
    const size = batchSize({ waiting, workers, meanMs, sendMs, maxBatch });
    return Math.min(Math.max(size, free), thread.room, Math.max(1, this.#tasksLeft(thread)));
  }

  /** Tasks that a worker may still begin before it is replaced; not below 0. */
  #tasksLeft({ done, inFlight }: Thread): number {
    return Math.max(0, this.#settings.maxTasksPerWorker - done - inFlight);
  }

  /** The worker that the user's balancer chooses, if what it returns is one. Throws what the balancer throws. */
  chosenBy(balancer: LoadBalancer, task: Task): Thread | undefined {
    const workers = this.#fleet.threads.filter((thread) => !thread.retiring);
    const chosen = balancer(task, workers);
    return workers.find((each) => each === chosen);
  }
}
