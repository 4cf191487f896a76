/** The options of a pool: meaning, unit, default, range, and the checks that keep bad ones out. */
import type { ResourceLimits, WorkerOptions } from 'node:worker_threads';
import { classOf, type Priority, type PriorityClass } from '../core/intake/priority.js';
import { check, checkKeys, integer, invalid, number, type Rule } from '../core/options.js';
import { isURL } from '../core/realm.cjs';
import { MillraceError, show } from '../errors.js';
import { clockOffsetMs } from './protocol.cjs';
import { isTaskQueue, type PoolTask, type TaskQueue } from './queue.js';
import { cpuShare, defaultThreads } from './sizing.js';
import { type FunctionSource, functionsOf, pathOf } from './source.js';
import type { PoolWorker, ThreadOptions } from './thread.js';

/**
 * Which worker gets a task; null for none of them: then another starts if there may be more, or the task waits. Workers have
 * `currentUsage`, which says how busy they are.
 */
export type LoadBalancer = (task: PoolTask, workers: PoolWorker[]) => PoolWorker | null;

/** Options of a pool: those of piscina, and more. */
export interface PoolOptions {
  /** File with the functions of tasks that name no other: an absolute path, one relative to the working directory, or a `file:` URL. Default: none. */
  filename?: string | URL | null;
  /** Its export that is called when a task names none. Default: 'default'. */
  name?: string | null;
  /** Functions that `run()` finds by name, in files of their own. Default: none. */
  functions?: Readonly<Record<string, FunctionSource>>;
  /** Workers that always run: 0 to 1024. Default: 1, or `maxThreads` if that is less. */
  minThreads?: number;
  /** Workers that may run: 1 to 1024. Default: the whole CPUs that this process may use by affinity, quota and its share in a cluster. */
  maxThreads?: number;
  /** Time in ms that a worker beyond `minThreads` stays without a task: 0 to 2,147,483,647, or Infinity. Default: 10,000. */
  idleTimeout?: number;
  /** Tasks that may wait: 0 to 100,000,000, Infinity, or 'auto' for the square of `maxThreads`. Default: 1,000,000. */
  maxQueue?: number | 'auto';
  /** Tasks that a worker may run at a time: 1 to 512, default 1. More is for tasks that wait for something. */
  concurrentTasksPerWorker?: number;
  /** Tasks that are sent to a worker at once: 1 to 512, default 512. With 1 a worker is sent none ahead of those that it can run. */
  maxBatch?: number;
  /** Priority of tasks that name none. Default: 'normal'. */
  priority?: Priority;
  /** Time in ms for each higher priority, after which a waiting task gets one place in four before what came later: 1 to 2,147,483,647. Default: 1000. */
  aging?: number;
  /** Time in ms that a task may run, from when it begins: 0 (without limit, the default) to 2,147,483,647. */
  timeout?: number;
  /** How often a task is begun again when its worker ended while it ran: 0 (the default) to 1000. Only for tasks that may run twice. */
  retry?: number;
  /** Time in ms that a task has to end once it is aborted, if its function has asked for its signal: 0 to 2,147,483,647. Default: 1000. */
  abortGrace?: number;
  /** A worker is replaced after this many tasks: 1 to 2^53 - 1. Default: Infinity. */
  maxTasksPerWorker?: number;
  /** Age in ms from which a worker is replaced when it has ended a task: 1 to 2^53 - 1. Default: Infinity. */
  maxWorkerAge?: number;
  /** Limits of each worker's memory, as `new Worker()` takes them. With them, no more workers start than the container has memory for. Default: those of V8. */
  resourceLimits?: ResourceLimits;
  /** Arguments of the workers, as `new Worker()` takes them. Default: none. */
  argv?: unknown[];
  /** Options of Node.js for them, as `new Worker()` takes them. Default: those of this process. */
  execArgv?: string[];
  /** Their environment, as `new Worker()` takes it. Default: a copy of this process's. */
  env?: WorkerOptions['env'];
  /** What they find as `workerData`. Default: none. */
  workerData?: unknown;
  /** Whether descriptors that they leave open are closed with them. Default: true. */
  trackUnmanagedFds?: boolean;
  /** Your own queue instead of priorities and shares. Tasks then leave one by one. Default: none. */
  taskQueue?: TaskQueue;
  /** Chooses the worker of each task. Tasks then leave one by one. Default: none. */
  loadBalancer?: LoadBalancer;
  /** Strictly in the order of the calls, whatever the functions and priorities: tasks then leave one by one. Default: false. */
  stricterFIFO?: boolean;
  /** Added to the niceness of the workers, with the package `@napi-rs/nice`: 0 or more; on Windows below 0, too. Default: 0. */
  niceIncrement?: number;
  /** Time in ms that `close()` waits for tasks that run: 0 to 2,147,483,647. Default: 30,000. */
  closeTimeout?: number;
  /** Whether times are kept for `histogram`. Default: true. */
  recordTiming?: boolean;
  /** Whether they are kept for each worker, for balancers. Default: false. */
  workerHistogram?: boolean;
  /** Accepted, without effect: workers here wait for messages, so that their timers and streams go on. Default: none. */
  atomics?: 'sync' | 'async' | 'disabled';
}

/** Options with their defaults, and what follows from them. */
export interface Settings extends ThreadOptions {
  readonly filename: string | null;
  readonly name: string;
  readonly functions: ReadonlyMap<string, { filename: string; name: string }>;
  readonly minThreads: number;
  readonly maxThreads: number;
  /** They follow the CPUs that this process may use. */
  readonly followsShare: boolean;
  readonly idleTimeout: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly priority: PriorityClass;
  readonly aging: number;
  readonly timeout: number;
  readonly retry: number;
  readonly maxTasksPerWorker: number;
  readonly maxWorkerAge: number;
  readonly taskQueue: TaskQueue | null;
  readonly loadBalancer: LoadBalancer | undefined;
  readonly stricterFIFO: boolean;
  readonly closeTimeout: number;
  readonly recordTiming: boolean;
}

const maxMs = 2_147_483_647;
const timeRule = number(0, maxMs);

const numbers: Record<string, Rule> = {
  concurrentTasksPerWorker: integer(1, 512),
  maxBatch: integer(1, 512),
  aging: number(1, maxMs),
  timeout: timeRule,
  retry: integer(0, 1000),
  abortGrace: timeRule,
  closeTimeout: timeRule,
};

/** Those that may also be Infinity. */
const unbounded: Record<string, Rule> = {
  idleTimeout: timeRule,
  maxQueue: integer(0, 100_000_000),
  maxTasksPerWorker: integer(1, Number.MAX_SAFE_INTEGER),
  maxWorkerAge: number(1, Number.MAX_SAFE_INTEGER),
};

const booleans = ['trackUnmanagedFds', 'stricterFIFO', 'recordTiming', 'workerHistogram'];

const others = [
  'filename',
  'name',
  'functions',
  'minThreads',
  'maxThreads',
  'priority',
  'resourceLimits',
  'argv',
  'execArgv',
  'env',
  'workerData',
  'taskQueue',
  'loadBalancer',
  'niceIncrement',
  'atomics',
];

const known = [...Object.keys(numbers), ...Object.keys(unbounded), ...booleans, ...others];

/** Only what the options have themselves: nothing from a prototype that somebody has tampered with. */
export function own<T extends object>(options: T): T {
  return Object.assign(Object.create(null), options);
}

export function settingsOf(given: PoolOptions): Settings {
  if (typeof given !== 'object' || given === null) {
    throw invalid('options', given, 'an object; `filename` in it names the file of the tasks');
  }
  const options = own(given);
  checkKeys('options', options, known);
  checkKinds(options);
  const { min, max, followsShare } = threadsOf(options);
  const concurrency = options.concurrentTasksPerWorker ?? 1;
  const filename = options.filename ? pathOf(options.filename, 'options.filename') : null;
  const name = options.name ?? 'default';
  return {
    filename,
    name,
    functions: functionsOf(options.functions ?? {}),
    minThreads: min,
    maxThreads: max,
    followsShare,
    idleTimeout: options.idleTimeout ?? 10_000,
    maxQueue: options.maxQueue === 'auto' ? max ** 2 : (options.maxQueue ?? 1_000_000),
    concurrency,
    maxBatch: options.maxBatch ?? 512,
    priority: classOf(options.priority ?? 'normal'),
    aging: options.aging ?? 1000,
    timeout: options.timeout ?? 0,
    retry: options.retry ?? 0,
    abortGrace: options.abortGrace ?? 1000,
    maxTasksPerWorker: options.maxTasksPerWorker ?? Number.POSITIVE_INFINITY,
    maxWorkerAge: options.maxWorkerAge ?? Number.POSITIVE_INFINITY,
    taskQueue: options.taskQueue ?? null,
    loadBalancer: options.loadBalancer,
    stricterFIFO: options.stricterFIFO ?? false,
    closeTimeout: options.closeTimeout ?? 30_000,
    recordTiming: options.recordTiming ?? true,
    histogram: options.workerHistogram ?? false,
    niceIncrement: options.niceIncrement ?? 0,
    preload: filename === null ? null : [filename, name],
    clockOffsetMs: clockOffsetMs(),
    worker: workerOf(options),
  };
}

/** An error for a value that is not as `what` says. */
function wrong(name: string, what: string, value: unknown): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `options.${name} must be ${what}; it is ${show(value)}`,
  );
}

function checkKinds(options: PoolOptions): void {
  const values = options as Record<string, unknown>;
  const { filename, name, functions, taskQueue, loadBalancer, resourceLimits } = options;
  const { niceIncrement, maxQueue } = options;
  if (filename != null && typeof filename !== 'string' && !isURL(filename)) {
    throw wrong('filename', 'a string or null', filename);
  }
  if (name != null && typeof name !== 'string') throw wrong('name', 'a string or null', name);
  if (functions != null && typeof functions !== 'object') {
    throw wrong('functions', 'an object', functions);
  }
  if (maxQueue !== undefined && maxQueue !== 'auto') checkCount('maxQueue', maxQueue, 0);
  checkOthers(values);
  if (
    resourceLimits !== undefined &&
    (typeof resourceLimits !== 'object' || resourceLimits === null)
  ) {
    throw wrong('resourceLimits', 'an object', resourceLimits);
  }
  if (taskQueue !== undefined && !isTaskQueue(taskQueue)) {
    throw wrong('taskQueue', 'a TaskQueue object', taskQueue);
  }
  if (
    loadBalancer !== undefined &&
    (typeof loadBalancer !== 'function' || loadBalancer.length < 1)
  ) {
    throw wrong('loadBalancer', 'a function with at least two args', loadBalancer);
  }
  if (
    niceIncrement !== undefined &&
    (!Number.isInteger(niceIncrement) || (niceIncrement < 0 && process.platform !== 'win32'))
  ) {
    throw wrong('niceIncrement', 'a non-negative integer on Unix systems', niceIncrement);
  }
  if (options.atomics != null && !['sync', 'async', 'disabled'].includes(options.atomics)) {
    throw wrong('atomics', "'sync', 'async' or 'disabled'", options.atomics);
  }
  for (const each of booleans) {
    if (values[each] !== undefined && typeof values[each] !== 'boolean')
      throw wrong(each, 'a boolean', values[each]);
  }
}

/** The kind of value first, as piscina reports it; then the range, by the rule. */
function checkOthers(values: Record<string, unknown>): void {
  for (const name of ['minThreads', 'idleTimeout', 'closeTimeout']) {
    if (values[name] !== undefined) checkCount(name, values[name], 0);
  }
  for (const name of ['maxThreads', 'concurrentTasksPerWorker']) {
    if (values[name] !== undefined) checkCount(name, values[name], 1);
  }
  for (const [name, rule] of Object.entries(numbers)) {
    if (values[name] !== undefined) check(name, values[name], rule);
  }
  for (const [name, rule] of Object.entries(unbounded)) {
    const value = values[name];
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue;
    if (name === 'maxQueue' && value === 'auto') continue;
    check(name, value, rule);
  }
  for (const name of ['minThreads', 'maxThreads']) {
    if (values[name] !== undefined)
      check(name, values[name], number(name === 'minThreads' ? 0 : 1, 1024));
  }
}

function checkCount(name: string, value: unknown, least: 0 | 1): void {
  if (typeof value === 'number' && value >= least) return;
  throw wrong(name, least === 0 ? 'a non-negative integer' : 'a positive integer', value);
}

function threadsOf({ minThreads, maxThreads }: PoolOptions): {
  min: number;
  max: number;
  followsShare: boolean;
} {
  if (minThreads !== undefined && maxThreads !== undefined && minThreads > maxThreads) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `options.minThreads and options.maxThreads must not conflict; they are ${minThreads} and ${maxThreads}`,
    );
  }
  const usual = defaultThreads(cpuShare());
  // Programs compute them from a number of CPUs: 1.5 is rounded up.
  const max = Math.ceil(maxThreads ?? Math.max(usual.max, minThreads ?? 0));
  const min = Math.ceil(minThreads ?? Math.min(usual.min, max));
  return { min, max, followsShare: minThreads === undefined && maxThreads === undefined };
}

function workerOf({
  argv,
  execArgv,
  env,
  workerData,
  resourceLimits,
  trackUnmanagedFds,
}: PoolOptions): WorkerOptions {
  // Nothing from a prototype reaches `new Worker()` either.
  return own({
    ...(argv && { argv }),
    ...(execArgv && { execArgv }),
    ...(env !== undefined && { env }),
    ...(resourceLimits && { resourceLimits }),
    workerData,
    trackUnmanagedFds: trackUnmanagedFds ?? true,
  });
}
