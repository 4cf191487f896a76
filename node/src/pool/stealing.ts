/** Takes back tasks that stand in a worker behind a long one: for a worker that has none, or for whichever is free next. */
import { clearTimeout, setTimeout } from '../core/timers.cjs';
import type { Fleet } from './fleet.js';
import type { OpenTasks } from './open-tasks.js';
import type { Task } from './task.js';
import type { Thread } from './thread.js';

/** Tasks behind one that has run this long, in ms, are given to a worker that has none; so are those that take longer than this together. */
const stuckMs = 0.5;
/** When a task takes this many times as long as usual, what stands behind it is given to whichever worker is free next. */
const unusual = 4;

export class Stealing {
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #send: (thread: Thread, tasks: Task[]) => void;
  readonly #dispatch: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    fleet: Fleet,
    tasks: OpenTasks,
    send: (thread: Thread, tasks: Task[]) => void,
    dispatch: () => void,
  ) {
    this.#fleet = fleet;
    this.#tasks = tasks;
    this.#send = send;
    this.#dispatch = dispatch;
  }

  /** Nothing waits: a worker that has nothing gets half of what another one has not begun. */
  steal(nowMs: number): void {
    for (const thief of this.#fleet.threads) {
      if (thief.inFlight > 0 || thief.retiring || !thief.isReady) continue;
      const victim = victimOf(this.#fleet.threads);
      if (victim === null) return;
      if (!isStuck(victim, nowMs)) {
        // What it has may be done in no time; if not, that shows at the next look.
        this.#timer ??= setTimeout(() => {
          this.#timer = null;
          if (this.#tasks.waiting.size === 0) this.#dispatch();
        }, 1).unref();
        return;
      }
      const tasks = this.#takeBack(victim, Math.ceil(victim.ahead / 2));
      if (tasks.length === 0) return;
      for (const batch of byFunction(tasks)) this.#send(thief, batch);
    }
  }

  /**
   * The others have enough to do, and would go on with what came later: what stands behind a task of unusual length waits
   * again, in front. If all are stuck nobody would take it.
   */
  takeBackStuck(nowMs: number): void {
    const { threads } = this.#fleet;
    if (threads.every((thread) => thread.ahead === 0)) return;
    const stuck = threads.filter((thread) => isBehindLong(thread, nowMs));
    if (stuck.length === threads.length) return;
    for (const thread of stuck) {
      if (thread.isStuck || thread.ahead === 0) continue;
      const tasks = this.#takeBack(thread, thread.ahead);
      thread.isStuck = true;
      if (tasks.length > 0) this.#tasks.putBack(tasks);
    }
  }

  #takeBack(thread: Thread, count: number): Task[] {
    const tasks = thread.revokeTail(count);
    this.#tasks.running -= tasks.length;
    this.#tasks.counts.stolen += tasks.length;
    return tasks;
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}

/** Whether what it has to begin stands behind a task of unusual length. */
function isBehindLong(thread: Thread, nowMs: number): boolean {
  const task = thread.current;
  if (task === null) return thread.isStopping;
  return thread.ranMs(task, nowMs) >= unusual * Math.max(stuckMs, task.of.meanMs ?? 0);
}

/** The one with the most that it has not begun. */
function victimOf(threads: readonly Thread[]): Thread | null {
  let victim: Thread | null = null;
  for (const thread of threads) {
    if (thread.ahead > (victim?.ahead ?? 0)) victim = thread;
  }
  return victim;
}

/** Whether what it has not begun is worth a message to another worker. */
function isStuck(thread: Thread, nowMs: number): boolean {
  if (thread.isStopping) return true;
  const task = thread.current;
  if (task === null) return false;
  return thread.ranMs(task, nowMs) > stuckMs || thread.ahead * (task.of.meanMs ?? 0) > stuckMs;
}

function byFunction(tasks: readonly Task[]): Task[][] {
  const batches: Task[][] = [];
  for (const task of tasks) {
    const last = batches.at(-1);
    if (last && last[0]!.of === task.of) last.push(task);
    else batches.push([task]);
  }
  return batches;
}
