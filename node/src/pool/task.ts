/** A task, the function that it calls, and the lanes in which the tasks of a function wait. What a function has cost sizes batches and shares time. */
import type { Transferable as TransferItem } from 'node:worker_threads';
import type { PriorityClass } from '../core/intake/priority.js';
import type { AbortSource } from './abort.js';
import { queueOptionsSymbol } from './movable.cjs';

/** What only a few calls ask for. */
export interface TaskExtras {
  readonly transferList: readonly TransferItem[];
  readonly signal: AbortSource | null;
  readonly timeoutMs: number;
  /** How often it may still be begun again. */
  retriesLeft: number;
  /** Takes the listener off the signal. */
  unlisten: (() => void) | null;
  /** Somebody gave it up while it was on its way from the queue to a worker. */
  givenUp: (() => Error) | null;
}

let lastId = 0;

/**
 * A call of a function on a worker, from `run()` until its promise is settled. What queues and balancers of the user see of
 * it is the same object. There may be a million of them: what few need is in `extras`.
 */
export class Task {
  readonly of: PoolFunction;
  readonly priority: PriorityClass;
  /** When `run()` was called, in ms by this thread's clock. */
  readonly created: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  readonly extras: TaskExtras | null;
  readonly taskId = lastId++;
  /** The argument. */
  task: unknown;
  /** How often a worker ended that was about to begin it; how often one ended that had begun it. */
  returns = 0;
  attempts = 0;
  /** The worker it was sent to, a `Thread`; null while it waits. Threads know tasks, and not the other way round. */
  thread: object | null = null;
  /** While it waits, its place in its lane; then its number at the worker; -1 between the two. */
  number = 0;
  settled = false;

  constructor(
    of: PoolFunction,
    task: unknown,
    priority: PriorityClass,
    created: number,
    resolve: (result: never) => void,
    reject: (error: unknown) => void,
    extras: TaskExtras | null,
  ) {
    this.of = of;
    this.task = task;
    this.priority = priority;
    this.created = created;
    this.resolve = resolve;
    this.reject = reject;
    this.extras = extras;
  }

  get filename(): string {
    return this.of.filename;
  }

  get name(): string {
    return this.of.name;
  }

  get isAbortable(): boolean {
    return this.extras !== null && this.extras.signal !== null;
  }

  /** Its worker may have to be ended while it runs: it does not run beside others. */
  get guarded(): boolean {
    return this.extras !== null && (this.extras.signal !== null || this.extras.timeoutMs > 0);
  }

  /** Part of it leaves this thread when it is sent: it cannot be sent again. */
  get moves(): boolean {
    return this.extras !== null && this.extras.transferList.length > 0;
  }

  get [queueOptionsSymbol](): object | null {
    const task = this.task as { [queueOptionsSymbol]?: object } | null | undefined;
    return (typeof task === 'object' && task?.[queueOptionsSymbol]) || null;
  }
}

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

/** How much a new mean counts against what was known. */
const weight = 1 / 4;

/** A function that tasks are for: an export of a file. */
export class PoolFunction {
  readonly id: number;
  readonly filename: string;
  readonly name: string;
  /** Those that wait, by priority. */
  readonly lanes: readonly [Lane, Lane, Lane];
  /** Mean time of a task in ms; null until one has ended. */
  meanMs: number | null = null;
  /** Mean time in ms that it takes this thread to send one of its tasks. */
  sendMs = 0;
  /** The pool knows it by a name, so it is not forgotten. */
  pinned = false;

  constructor(id: number, filename: string, name: string) {
    this.id = id;
    this.filename = filename;
    this.name = name;
    this.lanes = [new Lane(this), new Lane(this), new Lane(this)];
  }

  get idle(): boolean {
    return this.lanes.every((lane) => lane.size === 0);
  }

  /** The times of `count` tasks that ended took `totalMs` together. */
  ended(count: number, totalMs: number): void {
    const mean = totalMs / count;
    // Many say more than one: 8 at a time leave a tenth of what was known.
    const share = 1 - (1 - weight) ** count;
    this.meanMs = this.meanMs === null ? mean : this.meanMs + share * (mean - this.meanMs);
  }

  sent(count: number, totalMs: number): void {
    this.sendMs += weight * (totalMs / count - this.sendMs);
  }
}

/** Functions that are remembered beside the pinned ones; beyond it those without tasks are forgotten. */
const maxFunctions = 1000;

export class Functions {
  /** By file, and then by name: a key of both would have to be made for each call. */
  readonly #byFile = new Map<string, Map<string, PoolFunction>>();
  /** Those that are not pinned. */
  #count = 0;
  #nextId = 0;

  get(filename: string, name: string): PoolFunction {
    return this.#byFile.get(filename)?.get(name) ?? this.#add(filename, name);
  }

  /** The same; it is never forgotten. */
  pin(filename: string, name: string): PoolFunction {
    const pinned = this.get(filename, name);
    if (!pinned.pinned) this.#count--;
    pinned.pinned = true;
    return pinned;
  }

  #add(filename: string, name: string): PoolFunction {
    if (this.#count >= maxFunctions) this.#forget();
    const byName = this.#byFile.get(filename) ?? new Map<string, PoolFunction>();
    this.#byFile.set(filename, byName);
    const added = new PoolFunction(this.#nextId++, filename, name);
    byName.set(name, added);
    this.#count++;
    return added;
  }

  #forget(): void {
    for (const [filename, byName] of this.#byFile) {
      for (const [name, each] of byName) {
        if (each.idle && !each.pinned && byName.delete(name)) this.#count--;
      }
      if (byName.size === 0) this.#byFile.delete(filename);
      if (this.#count < maxFunctions / 2) return;
    }
  }
}
