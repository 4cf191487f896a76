/** Tells when all tasks have ended, and when there is room for further ones. */
import { clearTimeout, setTimeout } from '../core/timers.cjs';
import { nextMicrotask } from '../core/turn.cjs';
import type { SchedulerEvents } from './events.js';
import type { Fleet } from './fleet.js';
import type { OpenTasks } from './open-tasks.js';

export class Drain {
  readonly #concurrency: number;
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #events: SchedulerEvents;
  /** The workers have all that they can run. */
  needsDrain = false;
  #done: ((isDone: boolean) => void) | null = null;

  constructor(concurrency: number, fleet: Fleet, tasks: OpenTasks, events: SchedulerEvents) {
    this.#concurrency = concurrency;
    this.#fleet = fleet;
    this.#tasks = tasks;
    this.#events = events;
  }

  /** Resolves to true once nothing waits or runs, and to false if that takes longer than `ms`. */
  whenDone(ms: number): Promise<boolean> {
    if (this.#isDone) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#done?.(false), ms);
      timer.unref();
      this.#done = (isDone) => {
        clearTimeout(timer);
        this.#done = null;
        resolve(isDone);
      };
    });
  }

  get #isDone(): boolean {
    return this.#tasks.running === 0 && this.#tasks.waiting.size === 0;
  }

  /** Tasks have come, or gone. */
  check(): void {
    const tasks = this.#tasks;
    if (this.#done !== null && this.#isDone) this.#done(true);
    if (tasks.running === 0 && tasks.waiting.size > 0) this.#keepAlive();
    let usage = 0;
    for (const thread of this.#fleet.threads) usage += Math.min(this.#concurrency, thread.live);
    const isFull = usage >= this.#fleet.maxThreads * this.#concurrency;
    if (isFull === this.needsDrain) return;
    this.needsDrain = isFull;
    nextMicrotask(() => this.#events.emit(isFull ? 'needsDrain' : 'drain'));
  }

  /** Nobody waits for what the workers have, but somebody waits for its end: until then the process is kept alive. */
  #keepAlive(): void {
    for (const thread of this.#fleet.threads) if (thread.inFlight > 0) thread.worker.ref();
  }
}
