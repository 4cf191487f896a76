/** Workers that are started before there are tasks for them, and those whose place another one takes. */
import { performance } from '../core/timers.cjs';
import type { AllocationReason } from './allocations.js';
import type { SchedulerEvents } from './events.js';
import { cannotStart, destroyed, exited } from './failure.js';
import type { Fleet } from './fleet.js';
import type { Growth } from './growth.js';
import type { OpenTasks } from './open-tasks.js';
import type { Settings } from './options.js';
import type { Thread } from './thread.js';

export class Replacements {
  readonly #settings: Settings;
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #growth: Growth;
  readonly #events: SchedulerEvents;
  readonly #dispatch: () => void;
  /** The last one that was begun. */
  #replacing: Promise<void> = Promise.resolve();

  constructor(
    settings: Settings,
    fleet: Fleet,
    tasks: OpenTasks,
    growth: Growth,
    events: SchedulerEvents,
    dispatch: () => void,
  ) {
    this.#settings = settings;
    this.#fleet = fleet;
    this.#tasks = tasks;
    this.#growth = growth;
    this.#events = events;
    this.#dispatch = dispatch;
  }

  /** Starts workers until there are `count`, as far as there is memory for them; resolves when they are ready. */
  async prewarm(count: number): Promise<void> {
    while (this.#fleet.size < count && !this.#fleet.closed && this.#fleet.admits()) {
      this.#startNow('load');
    }
    await Promise.all(this.#fleet.threads.map((thread) => this.#whenReady(thread)));
  }

  /** Starts a worker in place of this one, which gets no more tasks and ends when it has none. Resolves when it has ended. */
  replace(thread: Thread): Promise<void> {
    thread.replaced ??= this.#replace(thread).catch((error) => {
      thread.replaced = null;
      throw error;
    });
    return thread.replaced;
  }

  async #replace(thread: Thread): Promise<void> {
    // One after the other, or there would be twice as many for a while.
    const before = this.#replacing;
    let done = () => {};
    this.#replacing = new Promise((resolve) => {
      done = resolve;
    });
    let ended = Promise.resolve();
    try {
      await before;
      if (this.#fleet.closed) throw destroyed();
      if (thread.retiring) return;
      const isRoom = this.#fleet.admits();
      if (isRoom) await this.#whenReady(this.#startNow('recycle'));
      ended = this.#retire(thread);
    } finally {
      done();
    }
    await ended;
    this.#growth.startMinimum('recycle');
  }

  /** Replaces a worker that is too old, or has run as many tasks as it may. */
  replaceIfDue(thread: Thread): void {
    const { maxTasksPerWorker, maxWorkerAge } = this.#settings;
    const isOld =
      maxWorkerAge < Number.POSITIVE_INFINITY &&
      performance.now() - thread.startedMs >= maxWorkerAge;
    const isDue = isOld || thread.done >= maxTasksPerWorker;
    const isThere = !thread.retiring && this.#fleet.threads.includes(thread);
    if (isDue && isThere && thread.replaced === null) {
      this.replace(thread).catch((error) => {
        if (!this.#fleet.closed) this.#events.emit('error', error);
      });
    }
  }

  /** What those that retire have not begun waits again. */
  requeueRetiring(): void {
    for (const thread of this.#fleet.threads) {
      if (!thread.retiring) continue;
      const tasks = thread.revokeTail(thread.live);
      this.#tasks.running -= tasks.length;
      if (tasks.length > 0) this.#tasks.putBack(tasks);
    }
  }

  /** Gets no more tasks. What it has not begun waits again. */
  #retire(thread: Thread): Promise<void> {
    const ended = new Promise<void>((resolve) => thread.worker.once('exit', () => resolve()));
    thread.retiring = true;
    if (thread.destroyed) return Promise.resolve();
    this.#events.allocated('recycle');
    this.requeueRetiring();
    thread.worker.ref();
    if (thread.inFlight === 0) void this.#fleet.end(thread);
    this.#dispatch();
    return ended;
  }

  #startNow(reason: AllocationReason): Thread {
    try {
      return this.#fleet.start(reason);
    } catch (error) {
      throw cannotStart(error);
    }
  }

  #whenReady(thread: Thread): Promise<void> {
    if (thread.isReady) return Promise.resolve();
    thread.readiness ??= new Promise((resolve, reject) => {
      thread.hold();
      thread.whenReady = resolve;
      thread.worker.once('exit', (code) => {
        reject(this.#fleet.closed ? destroyed() : cannotStart(thread.failure ?? exited(code)));
      });
    });
    return thread.readiness;
  }
}
