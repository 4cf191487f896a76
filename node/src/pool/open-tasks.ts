/** Tasks that have not been answered: those that wait, how many the workers have, and how each ends for its caller. */
import { performance } from '../core/timers.cjs';
import { Counts } from './counts.js';
import type { Task } from './task.js';
import type { Waiting } from './waiting.js';

/** The number of a task that was taken out of the queue and not sent yet. */
export const inHand = -1;

export class OpenTasks {
  readonly waiting: Waiting;
  readonly counts = new Counts();
  /** Tasks that were sent, and for which somebody waits. */
  running = 0;
  /** Whether tasks run beside each other in a worker. */
  readonly #beside: boolean;
  readonly #givenUp: () => void;

  /** `givenUp` is called when a task that was put back has ended because nobody waits for it. */
  constructor(waiting: Waiting, beside: boolean, givenUp: () => void) {
    this.waiting = waiting;
    this.#beside = beside;
    this.#givenUp = givenUp;
  }

  /** Takes tasks out of the queue. Until they are sent or put back they are in nobody's hands: see {@link inHand}. */
  take(nowMs: number, limit: (head: Task, waiting: number) => number): Task[] {
    const tasks = this.waiting.take(nowMs, limit, this.#beside);
    for (const task of tasks) task.number = inHand;
    return tasks;
  }

  /** They wait again, in front; not those that somebody gave up meanwhile. */
  putBack(tasks: readonly Task[]): void {
    for (const task of tasks) task.number = 0;
    this.waiting.putBack(tasks);
    for (const task of tasks) {
      if (!task.extras?.givenUp || task.settled) continue;
      this.waiting.remove(task);
      this.fail(task, task.extras.givenUp(), false);
      this.#givenUp();
    }
  }

  succeed(task: Task, result: unknown): void {
    this.counts.completed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.resolve(result as never);
  }

  fail(task: Task, error: unknown, wasRunning = task.thread !== null): void {
    if (task.settled) return;
    if (wasRunning) this.running--;
    this.counts.completed++;
    this.counts.failed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.reject(error);
  }

  rejectWaiting(error: () => Error): void {
    while (this.waiting.size > 0) {
      const tasks = this.waiting.take(performance.now(), (_, waiting) => waiting, false);
      if (tasks.length === 0) return;
      for (const task of tasks) this.fail(task, error());
    }
  }
}
