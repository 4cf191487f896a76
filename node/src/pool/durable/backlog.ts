/** How many tasks a worker wants: as many as its threads will do soon. */
import { performance } from '../../core/timers.cjs';
import type { Pool } from '../pool.js';

/** How much work is kept at hand, in ms, so that threads do not wait for the broker. */
const horizonMs = 100;
const perThread = 512;
/** Bytes of messages at hand; beyond it nothing is asked for. */
export const maxHeldBytes = 64 * 1024 * 1024;

/** What a lane has brought. */
export class Backlog {
  tasks = 0;
  /** Tasks in a message, on average of late. */
  #perMessage = 1;

  arrived(tasks: number): void {
    this.tasks += tasks;
    // A message without tasks must not make it look as if any number of them were welcome.
    this.#perMessage += (Math.max(tasks, 1) - this.#perMessage) / 8;
  }

  /** How many messages there is room for, if there may be `most` tasks. */
  room(most: number): number {
    if (this.tasks >= most) return 0;
    return Math.max(1, Math.floor((most - this.tasks) / this.#perMessage));
  }
}

/** Looked at no more often than this: a pool's stats cost more than a small task. */
const lookMs = 20;

/** Tasks that a pool does in a tenth of a second; until it has been measured, two for each place. */
export class Soon {
  readonly #pool: Pool;
  readonly #concurrency: number;
  #tasks = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, concurrency: number) {
    this.#pool = pool;
    this.#concurrency = concurrency;
  }

  get tasks(): number {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < lookMs) return this.#tasks;
    const places = this.#pool.maxThreads * this.#concurrency;
    const { count, mean } = this.#pool.stats().runMs;
    // What is not measured yet is looked at again with the next task.
    if (count === 0) return 2 * places;
    const each = Math.ceil(horizonMs / Math.max(mean, 0.001));
    this.#lookedMs = nowMs;
    this.#tasks = places * Math.min(Math.max(each, 2), perThread);
    return this.#tasks;
  }
}
