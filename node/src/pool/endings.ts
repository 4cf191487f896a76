/** What becomes of the tasks of a worker that ends: what it has not begun waits again, what it has begun fails or begins again. */
import { ENDED } from './board.cjs';
import type { SchedulerEvents } from './events.js';
import { cannotStart, destroyed, exited, workerEnded } from './failure.js';
import type { Fleet } from './fleet.js';
import type { Growth } from './growth.js';
import type { OpenTasks } from './open-tasks.js';
import type { Settings } from './options.js';
import type { Task } from './task.js';
import type { Thread } from './thread.js';

/** How often a task is sent again that may be why a worker ended before beginning it. */
const maxReturns = 3;

export class Endings {
  readonly #settings: Settings;
  readonly #fleet: Fleet;
  readonly #tasks: OpenTasks;
  readonly #growth: Growth;
  readonly #events: SchedulerEvents;
  readonly #dispatch: () => void;

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

  /** Only the end of the worker ends its task. What it has not begun runs elsewhere. */
  condemn(thread: Thread, isAtFault = false): void {
    void this.#fleet.end(thread);
    this.#requeue(thread, thread.failure ?? exited(1), isAtFault);
    this.#events.allocated('recycle');
    this.#growth.startMinimum('recycle');
    this.#dispatch();
  }

  /** It has ended. */
  exit(thread: Thread, code: number): void {
    const fleet = this.#fleet;
    const tasks = this.#tasks;
    const isCrash = fleet.remove(thread);
    const cause = thread.failure ?? exited(code);
    const isAtFault = isCrash && this.#isAtFault(thread);
    if (isCrash) tasks.counts.crashed++;
    if (isCrash && !isAtFault && !thread.hasBegun && thread.done === 0) fleet.failed();
    const given = this.#requeue(thread, cause, isAtFault);
    const begun = thread.takeBegun();
    for (const task of begun) this.#begunOn(thread, task, cause);
    if (isCrash) {
      this.#events.allocated('crash');
      this.#growth.startMinimum('crash');
    }
    if (fleet.closed) tasks.rejectWaiting(destroyed);
    else if (fleet.size === 0 && fleet.isHopeless) tasks.rejectWaiting(() => cannotStart(cause));
    else if (begun.length === 0 && given === 0 && thread.failure !== null && isCrash) {
      this.#events.emit('error', thread.failure);
    }
    this.#dispatch();
  }

  /** Whether the first task of a worker may be why it has ended, rather than the pool's own file, or nothing that was sent. */
  #isAtFault(thread: Thread): boolean {
    const [first] = thread.pending();
    if (first === undefined || thread.hasBegun) return false;
    return thread.isReady || first.of.filename !== this.#settings.preload?.[0];
  }

  /**
   * Tasks that a worker will not begin any more wait again, ahead of the others; those that cannot are failed. Returns
   * how many there were. If its first task may be at fault, that goes alone from then on, and not for ever.
   */
  #requeue(thread: Thread, cause: Error, isAtFault: boolean): number {
    const tasks = this.#tasks;
    const { again, lost } = thread.revokeAll();
    tasks.running -= again.length;
    if (isAtFault) for (const task of again) if (thread.isFirst(task.number)) task.returns++;
    const waiting = again.filter((task) => task.returns <= maxReturns);
    for (const task of again) {
      if (task.returns > maxReturns) tasks.fail(task, workerEnded(cause, 'unbegun'), false);
    }
    tasks.counts.requeued += waiting.length;
    if (waiting.length > 0) tasks.putBack(waiting);
    for (const task of lost) tasks.fail(task, workerEnded(cause, 'waiting'), true);
    return again.length + lost.length;
  }

  /** A task that had begun when its worker ended. It may run again if its caller said so. */
  #begunOn(thread: Thread, task: Task, cause: Error): void {
    const tasks = this.#tasks;
    const word = thread.word(task);
    const { extras } = task;
    tasks.running--;
    if (extras !== null && extras.retriesLeft > 0 && !task.moves && !this.#fleet.closed) {
      extras.retriesLeft--;
      task.attempts++;
      tasks.counts.retried++;
      tasks.putBack([task]);
      return;
    }
    tasks.fail(task, workerEnded(cause, word === ENDED ? 'ended' : 'running'), false);
  }
}
