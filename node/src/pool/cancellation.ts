/** Ends a task that somebody gave up, wherever it is: the caller's signal, or the time that it had. */
import { clearTimeout, performance, setTimeout } from '../core/timers.cjs';
import { ENDED, LISTENING, RUNNING } from './board.cjs';
import type { Drain } from './drain.js';
import type { Endings } from './endings.js';
import { timedOut } from './failure.js';
import { inHand, type OpenTasks } from './open-tasks.js';
import type { Task } from './task.js';
import type { Thread } from './thread.js';

export class Cancellation {
  readonly #graceMs: number;
  readonly #tasks: OpenTasks;
  readonly #drain: Drain;
  readonly #endings: Endings;
  readonly #graces = new Set<NodeJS.Timeout>();

  constructor(graceMs: number, tasks: OpenTasks, drain: Drain, endings: Endings) {
    this.#graceMs = graceMs;
    this.#tasks = tasks;
    this.#drain = drain;
    this.#endings = endings;
  }

  end(task: Task, error: () => Error): void {
    if (task.settled) return;
    const { number, extras } = task;
    const thread = task.thread as Thread | null;
    if (thread === null && number === inHand) {
      // A getter of its argument, or a balancer, gave it up: it ends when it is sent or put back.
      if (extras) extras.givenUp = error;
      return;
    }
    if (thread === null) this.#tasks.waiting.remove(task);
    if (thread === null || thread.revoke(task)) {
      this.#tasks.fail(task, error(), thread !== null);
      this.#drain.check();
      return;
    }
    const how = thread.stop(task);
    this.#tasks.fail(task, error(), true);
    if (how === 'condemned') this.#endings.condemn(thread);
    if (how === 'asked') this.#grace(thread, number);
    this.#drain.check();
  }

  /** What has been asked to stop gets some time to do so. */
  #grace(thread: Thread, number: number): void {
    const timer = setTimeout(() => {
      this.#graces.delete(timer);
      if (thread.condemn(number)) this.#endings.condemn(thread);
    }, this.#graceMs);
    timer.unref();
    this.#graces.add(timer);
  }

  /**
   * Looks at the tasks of a worker that have a time limit: those that have begun are due that long after, the others at the
   * earliest that long from now. So one timer for each worker is enough, and nobody has to report when a task begins.
   */
  watch(thread: Thread): void {
    if (thread.destroyed) return;
    const nowMs = performance.now();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const task of thread.pending()) {
      const timeoutMs = task.extras?.timeoutMs ?? 0;
      if (timeoutMs === 0) continue;
      const word = thread.word(task);
      if (word === ENDED) continue;
      const hasBegun = word === RUNNING || word === LISTENING;
      const leftMs = (hasBegun ? thread.begunMs(task) - nowMs : 0) + timeoutMs;
      if (leftMs > 0) {
        soonestMs = Math.min(soonestMs, leftMs);
        continue;
      }
      this.#tasks.counts.timedOut++;
      this.end(task, () => timedOut(timeoutMs, task.name));
      if (thread.terminating) return;
    }
    if (thread.deadline) clearTimeout(thread.deadline);
    thread.deadline = null;
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    thread.deadline = setTimeout(() => this.watch(thread), Math.ceil(soonestMs));
    thread.deadline.unref();
  }

  close(): void {
    for (const timer of this.#graces) clearTimeout(timer);
  }
}
