import type { PoolFunction } from './function.js';
import type { Task } from './task.js';

/** Taken and removed tasks are moved out of the way when there are this many, and more of them than others. */
const worthMoving = 64;

/** The tasks of one function and one priority that wait, oldest first. A removed task leaves a hole. */
export class Lane {
  readonly of: PoolFunction;
  #tasks: (Task | null)[] = [];
  #first = 0;
  size = 0;
  /** Time in ms that its tasks have had, and what is added for its absence: the lane with the least goes first. */
  servedMs = 0;
  /** Whether it stands in the list of lanes with tasks. */
  listed = false;

  constructor(of: PoolFunction) {
    this.of = of;
  }

  get head(): Task {
    return this.#tasks[this.#first]!;
  }

  push(task: Task): void {
    task.number = this.#tasks.length;
    this.#tasks.push(task);
    this.size++;
  }

  /** Puts tasks that were taken before, in their order, ahead of all others: into the places that they left. */
  unshift(tasks: readonly Task[]): void {
    if (tasks.length <= this.#first) {
      this.#first -= tasks.length;
      for (const [index, task] of tasks.entries()) {
        task.number = this.#first + index;
        this.#tasks[task.number] = task;
      }
      this.size += tasks.length;
      return;
    }
    const rest = this.#tasks.slice(this.#first).filter((task) => task !== null);
    this.#set([...tasks, ...rest]);
  }

  /**
   * Takes the oldest and up to `count` in all, oldest first, up to one that may not go behind another: it could not be taken
   * back, or is not to be in one message with it; or, if they run `beside` each other, has to be alone. The array is the caller's.
   */
  take(count: number, beside: boolean): Task[] {
    const taken: Task[] = [];
    while (taken.length < count && this.size > 0) {
      if (taken.length > 0 && staysBack(this.head, beside)) break;
      taken.push(this.head);
      this.#tasks[this.#first] = null;
      this.size--;
      this.#tidy();
    }
    return taken;
  }

  remove(task: Task): void {
    this.#tasks[task.number] = null;
    this.size--;
    this.#tidy();
  }

  #tidy(): void {
    if (this.size === 0) {
      this.#tasks.length = 0;
      this.#first = 0;
      return;
    }
    while (this.#tasks[this.#first] === null) this.#first++;
    const idle = this.#tasks.length - this.size;
    if (idle < worthMoving || idle < this.size) return;
    this.#set(this.#tasks.filter((task) => task !== null));
  }

  #set(tasks: Task[]): void {
    for (const [place, task] of tasks.entries()) task.number = place;
    this.#tasks = tasks;
    this.#first = 0;
    this.size = tasks.length;
  }
}

const staysBack = ({ returns, extras, moves, guarded }: Task, beside: boolean): boolean =>
  returns > 0 || (extras !== null && (moves || (beside && guarded)));
