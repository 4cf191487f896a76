import { type EventEmitter, EventEmitterAsyncResource } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { AbortError, type AbortSource, isAborted, onAbort, reasonOf } from '@millrace/base/abort';
import { MillraceError } from '@millrace/base/errors';
import { onShare } from '@millrace/base/limits/limits';
import {
  isMoved,
  move,
  queueOptionsSymbol,
  transferableSymbol,
  valueSymbol,
} from '@millrace/base/movable';
import { parseValue } from '@millrace/base/options';
import { classOf, priorityField } from '@millrace/base/priority';
import { isURL } from '@millrace/base/realm';
import { integer } from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import { performance, wallClock } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import { fileChunks, lineChunks } from './chunks.js';
import {
  badArgument,
  callOf,
  defaultThreads,
  extrasOf,
  type FunctionSource,
  own,
  type PoolOptions,
  pathOf,
  type RunOptions,
  type Settings,
  settingsOf,
  sourceOf,
} from './options.js';
import { thisPackage } from './package.cjs';
import { anyFunction, state } from './protocol.cjs';
import { ArrayTaskQueue, FairQueue, FixedQueue, UserQueue } from './queue.js';
import { Scheduler } from './scheduler.js';
import { finite, histogramOf, type PoolHistogram, type PoolStats } from './stats.js';
import { Functions, type PoolFunction, Task, type TaskExtras } from './task.js';
import { type PoolWorker, workerProgram } from './thread.js';
import { type Allocation, type AllocationReason, logAllocations } from './workers.js';

/** Version of this package. */
export const version: string = thisPackage.version;

/** Events of a pool, and the arguments of their listeners. */
export interface PoolEvents {
  /** A worker failed while it had no task, or a task ran for longer than `closeTimeout`. */
  error: [error: Error];
  /** Emitted when there is room for tasks again. */
  drain: [];
  /** Emitted when all workers are full. */
  needsDrain: [];
  /** A worker's code has posted a message of its own. */
  message: [value: unknown];
  workerCreate: [worker: PoolWorker];
  workerDestroy: [worker: PoolWorker];
  allocation: [allocation: Allocation];
  close: [];
}

/** Options of `Pool.close()`. */
export interface CloseOptions {
  /** Also rejects the tasks that have not begun. Default: false. */
  force?: boolean;
}

const countField = integer(0, 1024);

/** Base class, whose types do not know the names of our events. */
const Emitter = EventEmitterAsyncResource as unknown as new (options: {
  name: string;
}) => EventEmitter<PoolEvents> & Omit<EventEmitterAsyncResource, keyof EventEmitter>;

/** Settles the promise that was created last. A separate executor for each would cost each call another closure. */
let resolveLast: (result: never) => void;
let rejectLast: (error: unknown) => void;
function capture(resolve: (result: never) => void, reject: (error: unknown) => void): void {
  resolveLast = resolve;
  rejectLast = reject;
}

/**
 * Worker threads that run CPU tasks: functions of files. Waiting tasks are sent to a worker together, and an idle worker
 * takes over tasks that another has not begun. Has the interface of piscina 5; see docs/reference/pool.md for what differs.
 *
 *     const pool = new Pool({ filename: new URL('./tasks.js', import.meta.url) });
 *     const digits = await pool.run(10_000, { name: 'fibonacci' });
 */
export class Pool<Argument = any, Result = any> extends Emitter {
  readonly #settings: Settings;
  readonly #scheduler: Scheduler;
  readonly #functions = new Functions();
  readonly #registered: Map<string, PoolFunction>;
  /** The function of tasks that name none; null if the pool has no file. */
  readonly #usual: PoolFunction | null;
  /** Calls without options ask for nothing but a function and an argument. */
  readonly #isPlain: boolean;
  readonly #histogram: PoolHistogram;
  readonly #startedMs = performance.now();
  #ignoreShare: (() => void) | null = null;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #closing: Promise<void> | null = null;

  /**
   * Throws MILLRACE_E_INVALID_OPTION, MILLRACE_E_BUNDLED in a bundle that finds no installed package, or the error of `new
   * Worker()`, for instance for `workerData` that cannot be cloned.
   */
  constructor(options: PoolOptions = {}) {
    workerProgram();
    const settings = settingsOf(options);
    super({ name: 'Pool' });
    this.#settings = settings;
    this.#isPlain = settings.timeout === 0 && settings.retry === 0;
    const { filename, name, functions, taskQueue, stricterFIFO, aging } = settings;
    this.#usual = filename === null ? null : this.#functions.pin(filename, name);
    this.#registered = new Map();
    for (const [key, source] of functions) {
      this.#registered.set(key, this.#functions.pin(source.filename, source.name));
    }
    const queue = taskQueue ?? (stricterFIFO ? new FixedQueue() : null);
    const runQueue = queue === null ? new FairQueue(aging) : new UserQueue(queue);
    this.#scheduler = new Scheduler(settings, runQueue, {
      emit: (event, ...args) => this.#emit(event, args),
      allocated: (reason) => this.#allocated(reason),
    });
    this.#histogram = histogramOf(this.#scheduler.runTimes, this.#scheduler.waitTimes);
    announce('pool', this.#scheduler, (scheduler) => scheduler.stats());
    if (settings.followsShare) {
      this.#ignoreShare = onShare((cpus) => {
        const { min, max } = defaultThreads(cpus);
        this.#scheduler.workers.resize(min, max);
      });
    }
  }

  /**
   * Runs a function on a worker: `fn(task, context)`. The task is cloned when it is sent, which is at once if a worker is
   * free, else later: do not change it meanwhile. Resolves to the function's result. Rejects with its error, and with
   *
   * - MILLRACE_E_OVERLOADED when `maxQueue` tasks wait,
   * - MILLRACE_E_ABORTED (an AbortError whose `cause` is the signal's reason), MILLRACE_E_TIMEOUT,
   * - MILLRACE_E_WORKER when its worker ended while it ran, and it may not be rerun (`retry`),
   * - MILLRACE_E_TASK_FILE when there is no such file or function, MILLRACE_E_BAD_RESULT for a result that cannot be cloned,
   * - MILLRACE_E_CLOSED after `close()` or `destroy()`, MILLRACE_E_INVALID_ARGUMENT for options that are wrong.
   */
  run(task: Argument, options?: RunOptions): Promise<Result> {
    const fn = this.#usual;
    const plain = options === undefined && fn !== null && this.#state === 'open';
    if (!plain || !this.#isPlain || isMoved(task)) return this.#runWith(task, options);
    const promise = new Promise<Result>(capture);
    const { priority } = this.#settings;
    this.#scheduler.submit(
      new Task(fn, task, priority, this.#scheduler.nowMs(), resolveLast, rejectLast, null),
    );
    return promise;
  }

  /** A call with options, or one that is wrong. */
  #runWith(task: unknown, options: RunOptions | undefined): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#state !== 'open') throw closed('queue is being terminated');
      if (options === null || (options !== undefined && typeof options !== 'object')) {
        throw badArgument('options', 'an object', options);
      }
      const given = callOf(options ?? {});
      const fn = this.#functionOf(given);
      if (fn === null) {
        throw new MillraceError(
          'MILLRACE_E_INVALID_ARGUMENT',
          'filename must be provided to run() or in options object: there is none in either',
        );
      }
      const extras = extrasOf(task, given, this.#settings);
      const argument = isMoved(task) ? task[valueSymbol] : task;
      if (extras?.signal && isAborted(extras.signal)) {
        throw new AbortError(reasonOf(extras.signal));
      }
      const priority =
        given.priority === undefined
          ? this.#settings.priority
          : classOf(parseValue('Pool.run()', 'priority', given.priority, priorityField));
      const created = this.#scheduler.nowMs();
      const entry = new Task(fn, argument, priority, created, resolve, reject, extras);
      this.#scheduler.submit(entry);
      if (extras?.signal && !entry.settled) this.#listen(entry, extras, extras.signal);
    });
  }

  /** Loads the pool's file on a worker. Rejects with MILLRACE_E_TASK_FILE when it cannot be loaded or exports no function; resolves if the pool has none. */
  async checkFile(): Promise<void> {
    const { filename, priority } = this.#settings;
    if (filename === null) return;
    if (this.#state !== 'open') throw closed('queue is being terminated');
    const fn = this.#functions.get(filename, anyFunction);
    await new Promise((resolve, reject) => {
      const created = this.#scheduler.nowMs();
      this.#scheduler.submit(new Task(fn, undefined, priority, created, resolve, reject, null));
    });
  }

  /**
   * Returns the recent mean run time in ms of a function's tasks, by its name; null until it is known. Without a name, of the
   * default function.
   */
  meanMs(name: string | null = null): number | null {
    return this.#functionOf({ name })?.meanMs ?? null;
  }

  /**
   * Registers an export of a file as a function that `run()` finds by name, in place of an earlier one of that name. Loads
   * nothing yet.
   */
  register(name: string, filename: string | URL, exportName = 'default'): this {
    if (typeof name !== 'string' || name === '') throw badArgument('name', 'a string', name);
    if (typeof exportName !== 'string') throw badArgument('exportName', 'a string', exportName);
    const named = { filename, name: exportName } satisfies FunctionSource;
    const source = sourceOf(named, 'Pool.register()', 'filename');
    this.#registered.set(name, this.#functions.pin(source.filename, source.name));
    return this;
  }

  /**
   * Starts workers until there are `count`, at most `maxThreads`, which is the default, as far as memory and idle cores
   * allow; resolves when they are ready. A file that cannot be loaded is reported by the calls that need it.
   */
  prewarm(count: number = this.maxThreads): Promise<void> {
    parseValue('Pool.prewarm()', 'count', count, countField);
    if (this.#state !== 'open') return Promise.reject(closed('queue is being terminated'));
    return this.#scheduler.workers.prewarm(Math.min(count, this.maxThreads));
  }

  /** Replaces each worker by a new one, one after the other: to load changed code, or to free memory. No task is lost. */
  async recycle(): Promise<void> {
    if (this.#state !== 'open') throw closed('queue is being terminated');
    const { workers } = this.#scheduler;
    for (const thread of [...workers.threads]) await workers.replace(thread);
  }

  /**
   * Refuses calls from now on, waits for earlier ones, and ends the workers. After `closeTimeout` it emits 'error'
   * (MILLRACE_E_TIMEOUT) and ends them all the same. With `force` tasks that have not begun are rejected. 'close' follows.
   */
  close(options: CloseOptions = {}): Promise<void> {
    if (options === null || typeof options !== 'object') {
      return Promise.reject(badArgument('options', 'an object', options));
    }
    const { force = false } = own(options);
    if (typeof force !== 'boolean') return Promise.reject(badArgument('force', 'a boolean', force));
    if (force) this.#scheduler.rejectUnbegun(() => closed('pool is closed'));
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends all workers at once. Pending calls reject with MILLRACE_E_CLOSED. Resolves when they have ended. */
  async destroy(): Promise<void> {
    this.#state = 'closed';
    this.#ignoreShare?.();
    await this.#scheduler.destroy();
    this.emitDestroy();
  }

  [Symbol.dispose](): void {
    void this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns counters, and the tasks and workers of the pool; plain data. Some µs. */
  stats(): PoolStats {
    return this.#scheduler.stats();
  }

  get minThreads(): number {
    return this.#scheduler.workers.minThreads;
  }

  get maxThreads(): number {
    return this.#scheduler.workers.maxThreads;
  }

  /** Options in use; a copy. */
  get options(): Readonly<Record<string, unknown>> {
    const { worker, concurrency, histogram, clockOffsetMs, preload, followsShare, ...rest } =
      this.#settings;
    const { minThreads, maxThreads } = this;
    const renamed = { concurrentTasksPerWorker: concurrency, workerHistogram: histogram };
    return own({ ...rest, ...worker, ...renamed, minThreads, maxThreads });
  }

  /** Worker threads, including those that start. */
  get threads(): Worker[] {
    return this.#scheduler.workers.threads.map(({ worker }) => worker);
  }

  /** Workers without a task that have started or are the first ones. */
  get idleThreads(): number {
    return this.#scheduler.workers.threads.filter(
      (each) => each.announced && each.currentUsage === 0,
    ).length;
  }

  /** Waiting tasks. */
  get queueSize(): number {
    return this.#scheduler.queueSize;
  }

  /** Settled calls, with a result or an error. */
  get completed(): number {
    return this.#scheduler.completed;
  }

  get histogram(): PoolHistogram {
    return this.#histogram;
  }

  /**
   * Share of the time of `maxThreads` workers in which tasks ran, since the pool was created: 0 to 1. 0 with `recordTiming:
   * false`.
   */
  get utilization(): number {
    const { runTimes } = this.#scheduler;
    if (runTimes === null || runTimes.count === 0) return 0;
    return (runTimes.meanMs * runTimes.count) / (this.duration * this.maxThreads);
  }

  /** Age of the pool in ms. */
  get duration(): number {
    return performance.now() - this.#startedMs;
  }

  /** True if all workers are full: wait for 'drain' before further tasks. */
  get needsDrain(): boolean {
    return this.#scheduler.needsDrain;
  }

  #functionOf({ filename, name }: RunOptions): PoolFunction | null {
    if (name != null && typeof name !== 'string') throw badArgument('name', 'a string', name);
    // It is what checkFile() asks for, and would be a success whatever the file exports.
    if (name === anyFunction) throw badArgument('name', 'the name of an export', name);
    if (filename != null && typeof filename !== 'string' && !isURL(filename)) {
      throw badArgument('filename', 'a string', filename);
    }
    if (filename == null && name == null) return this.#usual;
    if (filename == null && name != null) {
      const registered = this.#registered.get(name);
      if (registered !== undefined) return registered;
    }
    const file =
      filename == null ? this.#settings.filename : pathOf(filename, 'Pool.run()', 'filename');
    if (file === null) return null;
    return this.#functions.get(file, name ?? this.#settings.name);
  }

  #listen(task: Task, extras: TaskExtras, signal: AbortSource): void {
    extras.unlisten = onAbort(signal, () => this.#scheduler.abort(task, signal));
  }

  async #close(): Promise<void> {
    this.#state = 'closing';
    const { closeTimeout } = this.#settings;
    const isDone = await this.#scheduler.whenDone(closeTimeout);
    if (!isDone) this.#emit('error', [closeTimedOut(closeTimeout)]);
    await this.destroy();
    this.#emit('close', []);
  }

  /** Emits an event. If a listener throws, that is the application's error, and no reason to stop in the middle of something. */
  #emit(event: string, args: unknown[]): void {
    try {
      (this as EventEmitter).emit(event, ...args);
    } catch (error) {
      throwLater(error);
    }
  }

  #allocated(reason: AllocationReason): void {
    if (this.listenerCount('allocation') === 0) return;
    const { queued, running, workers } = this.#scheduler;
    const { limitBytes } = workers.memory.look();
    const allocation: Allocation = {
      at: wallClock.now(),
      reason,
      workers: workers.size,
      maxThreads: workers.maxThreads,
      queued,
      running,
      coreLimit: finite(workers.coreLimit),
      memory: { reservedBytes: workers.reservedBytes, limitBytes, throttled: workers.throttled },
    };
    this.#emit('allocation', [allocation]);
  }

  // What the module exports, for `require('@millrace/pool')`, which is this class.

  /** True in a worker thread of a pool. */
  static readonly isWorkerThread: boolean = state.isWorkerThread;
  /** `workerData` of the pool, in its workers. */
  static readonly workerData: unknown = state.workerData;
  static readonly version: string = version;
  static readonly Pool: typeof Pool = Pool;
  static readonly Piscina: typeof Pool = Pool;
  static readonly AbortError = AbortError;
  static readonly ArrayTaskQueue = ArrayTaskQueue;
  static readonly FixedQueue = FixedQueue;
  static readonly fileChunks = fileChunks;
  static readonly lineChunks = lineChunks;
  static readonly logAllocations = logAllocations;
  static readonly move = move;
  static readonly queueOptionsSymbol: typeof queueOptionsSymbol = queueOptionsSymbol;
  static readonly transferableSymbol: typeof transferableSymbol = transferableSymbol;
  static readonly valueSymbol: typeof valueSymbol = valueSymbol;
}

const closeTimedOut = (ms: number): MillraceError =>
  new MillraceError(
    'MILLRACE_E_TIMEOUT',
    `Close operation timed out: tasks were still running after the closeTimeout of ${ms} ms; raise it, or destroy() the pool`,
  );

/** Named and worded like an abort, which is what it is for the caller. */
function closed(cause: string): MillraceError {
  const error = new MillraceError('MILLRACE_E_CLOSED', 'The task has been aborted', { cause });
  error.name = 'AbortError';
  return error;
}
