/**
 * A task, the function that it calls, and the queue of that function's tasks; and the errors that it ends with. Their messages begin
 * like those of piscina, which programs may look for.
 */
import type { Transferable as TransferItem } from 'node:worker_threads';
import type { AbortSource } from '@millrace/base/abort';
import { MillraceError, show } from '@millrace/base/errors';
import { queueOptionsSymbol } from '@millrace/base/movable';
import type { PriorityClass } from '@millrace/base/priority';
import { isError } from '@millrace/base/realm';
import { anyFunction, type Failure, NO_FUNCTION, type Origin, THREW } from './protocol.cjs';

/** Options that only a few calls use. */
export interface TaskExtras {
  readonly transferList: readonly TransferItem[];
  readonly signal: AbortSource | null;
  readonly timeoutMs: number;
  /** Reruns left. */
  retriesLeft: number;
  /** Id and number of deliveries, from the caller. */
  readonly id: string | null;
  readonly delivery: number | null;
  /** Takes the listener off the signal. */
  unlisten: (() => void) | null;
  /** Somebody gave it up while it was on its way from the queue to a worker. */
  givenUp: (() => Error) | null;
}

/** The thread that a task was sent to, as far as the end of a task needs it. */
export interface TaskThread {
  /** Takes the task back if it has not begun. */
  revoke(task: Task): boolean;
  /** Ends a task that has begun; `condemned`: only {@link kill} does. */
  stop(task: Task): 'ended' | 'asked' | 'condemned';
  /** Ends the worker. */
  kill(): void;
}

let lastId = 0;

/**
 * A call of a function on a worker, from `run()` until its promise is settled. The queue and the balancer of a user get
 * the same object. There may be a million of them: what few need is in `extras`. The life of a task is told in `scheduler.ts`.
 */
export class Task {
  readonly fn: PoolFunction;
  readonly priority: PriorityClass;
  /** Time of the call of `run()`, in ms by this thread's clock. */
  readonly created: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  readonly extras: TaskExtras | null;
  readonly taskId = lastId++;
  /** The argument. */
  task: unknown;
  /** Number of workers that ended about to begin it, and of those that had begun it. */
  returns = 0;
  attempts = 0;
  /** The worker it was sent to; null while it waits. */
  thread: TaskThread | null = null;
  /** Place in its queue while it waits; then its number at the worker; -1 between the two. */
  number = 0;
  settled = false;

  constructor(
    fn: PoolFunction,
    task: unknown,
    priority: PriorityClass,
    created: number,
    resolve: (result: never) => void,
    reject: (error: unknown) => void,
    extras: TaskExtras | null,
  ) {
    this.fn = fn;
    this.task = task;
    this.priority = priority;
    this.created = created;
    this.resolve = resolve;
    this.reject = reject;
    this.extras = extras;
  }

  get filename(): string {
    return this.fn.filename;
  }

  get name(): string {
    return this.fn.name;
  }

  get isAbortable(): boolean {
    return this.extras !== null && this.extras.signal !== null;
  }

  /** True if its worker may have to be ended while it runs: it does not run beside others. */
  get guarded(): boolean {
    return this.extras !== null && (this.extras.signal !== null || this.extras.timeoutMs > 0);
  }

  /** Part of it leaves this thread when it is sent: it cannot be sent again. */
  get moves(): boolean {
    return this.extras !== null && this.extras.transferList.length > 0;
  }

  /** Earlier runs, and id and delivery from the caller, for its context. */
  get origin(): number | Origin {
    const { attempts, extras } = this;
    if (extras === null || (extras.id === null && extras.delivery === null)) return attempts;
    return [attempts, extras.id, extras.delivery];
  }

  get [queueOptionsSymbol](): object | null {
    const task = this.task as { [queueOptionsSymbol]?: object } | null | undefined;
    return (typeof task === 'object' && task?.[queueOptionsSymbol]) || null;
  }
}

/** Weight of a new mean against what was known. */
const weight = 1 / 4;

/** An export of a file that tasks call, and what it has cost so far: batches are sized, and time is shared, by it. */
export class PoolFunction {
  readonly id: number;
  readonly filename: string;
  readonly name: string;
  /** Waiting tasks, by priority. */
  readonly queues: readonly [FunctionQueue, FunctionQueue, FunctionQueue];
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
    this.queues = [new FunctionQueue(this), new FunctionQueue(this), new FunctionQueue(this)];
  }

  get idle(): boolean {
    return this.queues.every((queue) => queue.size === 0);
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

/** Work that goes at once, in ms. More of it, up to `mostMs`, if this share of what waits is more. */
const batchMs = 1;
const mostMs = 4;
const shareOfWaiting = 0.04;

interface BatchSignals {
  /** Tasks of the function that wait. */
  waiting: number;
  /** Workers that take part. */
  workers: number;
  /** Mean time of the function's tasks in ms, and mean time to send one; null while none has ended. */
  meanMs: number | null;
  sendMs: number;
  maxBatch: number;
}

/**
 * Returns the number of tasks to send to a worker at once. The queue is divided among the workers twice over, so that none
 * has all of it while another has nothing. A batch is about 1 ms of work for either thread: more would keep a task with a
 * higher priority waiting, less costs a message more. Where the last of those that wait will wait for long anyway, it is up
 * to 4 ms. Until the first task has been measured they go one by one.
 */
export function batchSize({ waiting, workers, meanMs, sendMs, maxBatch }: BatchSignals): number {
  if (meanMs === null) return 1;
  const share = Math.ceil(waiting / (2 * workers));
  const ms = Math.max(batchMs, Math.min(mostMs, (shareOfWaiting * waiting * meanMs) / workers));
  const byTime = Math.floor(Math.min(ms / meanMs, batchMs / sendMs));
  return Math.max(1, Math.min(share, byTime, maxBatch));
}

/**
 * Returns the longest time in ms between two sends of a batch's results: long when their callers have many more waiting
 * tasks.
 */
export const replyMs = (size: number, waiting: number, workers: number): number =>
  waiting > 2 * workers * size ? 2 : 0.5;

/** Duration in ms above which tasks gain nothing from a second batch that is there when the first ends. */
const shortMs = 2;

/** Reports whether a second batch may be sent to a worker that has one. */
export const isShort = (meanMs: number | null): boolean => meanMs !== null && meanMs < shortMs;

/** Functions that are remembered beside the pinned ones; beyond it those without tasks are forgotten. */
const maxFunctions = 1000;

/** The functions that a pool knows. */
export class Functions {
  /** Functions by file, and then by name: a key of both would have to be made for each call. */
  readonly #byFile = new Map<string, Map<string, PoolFunction>>();
  /** Functions that are not pinned. */
  #count = 0;
  #nextId = 0;

  get(filename: string, name: string): PoolFunction {
    return this.#byFile.get(filename)?.get(name) ?? this.#add(filename, name);
  }

  /** Returns a function that is never forgotten. */
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

/** Taken and removed tasks are moved out of the way when there are this many, and more of them than others. */
const worthMoving = 64;

/** The waiting tasks of one function and one priority, oldest first. A removed task leaves a hole. */
export class FunctionQueue {
  readonly fn: PoolFunction;
  #tasks: (Task | null)[] = [];
  #first = 0;
  size = 0;
  /** Kept by the run queue: time in ms that its tasks have had, plus its handicap after an absence. The least goes first. */
  servedMs = 0;
  /** Kept by the run queue: whether it is in the list of queues with tasks. */
  listed = false;

  constructor(fn: PoolFunction) {
    this.fn = fn;
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

// ---- errors

/** Returns the error for a worker's report of a failed task. */
export function failureOf(
  { filename, name }: { readonly filename: string; readonly name: string },
  [, kind, error, properties]: Failure,
): unknown {
  if (kind === THREW) {
    return isError(error) && properties ? Object.assign(error, properties) : error;
  }
  if (kind === NO_FUNCTION) {
    return new MillraceError(
      'MILLRACE_E_TASK_FILE',
      `${name === anyFunction ? 'functions' : `function '${name}'`} cannot be loaded from ${filename}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return new MillraceError(
    'MILLRACE_E_BAD_RESULT',
    `the result of '${name}' cannot be cloned: ${messageOf(error).replace(/\.$/, '')}; return plain data, or move() what can be transferred`,
    { cause: error },
  );
}

export const taskNotClonable = (error: unknown): MillraceError =>
  new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the task cannot be sent to a worker: ${messageOf(error).replace(/\.$/, '')}; give plain data, and in transferList only what can be transferred and has not been`,
    { cause: error },
  );

/** The worker ended while it had the task. */
export function workerEnded(
  cause: Error,
  begun: 'running' | 'ended' | 'waiting' | 'unbegun',
): MillraceError {
  const what = {
    running: 'while the task ran; with `retry` it would be begun again on another worker',
    ended:
      'after the task had run and before its result had left; with `retry` it would be begun again',
    waiting: 'before the task began, and the data that was transferred is lost with it',
    unbegun: 'before the task began, as each one did that was given it',
  }[begun];
  const { message } = cause;
  return new MillraceError('MILLRACE_E_WORKER', `${message} (the worker ended ${what})`, { cause });
}

export const timedOut = (timeoutMs: number, name: string): MillraceError =>
  new MillraceError(
    'MILLRACE_E_TIMEOUT',
    `'${name}' has run for longer than its timeout of ${timeoutMs} ms; raise it, or 0 for none`,
  );

export const full = (maxQueue: number): MillraceError =>
  new MillraceError(
    'MILLRACE_E_OVERLOADED',
    maxQueue === 0
      ? 'No task queue available and all Workers are busy: maxQueue is 0; raise it, or try again later'
      : `Task queue is at limit: ${maxQueue} tasks wait (maxQueue); send fewer, or raise it`,
  );

export function messageOf(error: unknown): string {
  return isError(error) ? error.message : show(error);
}
