/** Options of a pool, places of functions, and options of one call; meaning, unit, default and range of each. */

import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  ResourceLimits,
  Transferable as TransferItem,
  WorkerOptions,
} from 'node:worker_threads';
import type { AbortSource } from '@millrace/base/abort';
import { MillraceError, show } from '@millrace/base/errors';
import { cpuShare } from '@millrace/base/limits/limits';
import { isMoved, transferOf } from '@millrace/base/movable';
import { fault, parse, parseValue, refused, unknown } from '@millrace/base/options';
import { classOf, type Priority, priorityField } from '@millrace/base/priority';
import { isURL } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { type ThrottleShares, usualShares } from './memory.js';
import { clockOffsetMs } from './protocol.cjs';
import { isTaskQueue, type PoolTask, type TaskQueue } from './queue.js';
import type { TaskExtras } from './task.js';
import type { PoolWorker, ThreadOptions } from './thread.js';

/**
 * Chooses the worker of a task; null for none of them: then another starts if there may be more, or the task waits.
 * `currentUsage` of a worker is its number of tasks.
 */
export type LoadBalancer = (task: PoolTask, workers: PoolWorker[]) => PoolWorker | null;

/** Options of a pool: those of piscina, and more. */
export interface PoolOptions {
  /**
   * File with the functions of tasks that name no other file: an absolute path, one relative to the working directory, or a
   * `file:` URL. Default: none.
   */
  filename?: string | URL | null;
  /** Export that is called when a task names none. Default: 'default'. */
  name?: string | null;
  /** Functions that `run()` finds by name, in files of their own. Default: none. */
  functions?: Readonly<Record<string, FunctionSource>>;
  /** Workers that are always kept: 0 to 1024. Default: 1, or `maxThreads` if that is less. */
  minThreads?: number;
  /** Workers that may run: 1 to 1024. Default: the whole CPUs that this process may use by affinity, quota and its share in a cluster. */
  maxThreads?: number;
  /** Time in ms after which an idle worker beyond `minThreads` ends: 0 to 2,147,483,647, or Infinity. Default: 10,000. */
  idleTimeout?: number;
  /** Tasks that may wait: 0 to 100,000,000, Infinity, or 'auto' for the square of `maxThreads`. Default: 1,000,000. */
  maxQueue?: number | 'auto';
  /** Tasks that a worker may run at a time: 1 to 512, default 1. More is for tasks that wait for something. */
  concurrentTasksPerWorker?: number;
  /** Most tasks sent to a worker at once: 1 to 512, default 512. With 1 a worker gets no tasks ahead of those that it can run. */
  maxBatch?: number;
  /** Priority of tasks without one. Default: 'normal'. */
  priority?: Priority;
  /** Time in ms for each higher priority, after which a waiting task gets one place in four before what came later: 1 to 2,147,483,647. Default: 1000. */
  aging?: number;
  /** Longest time in ms that a task may run, from its beginning: 0 (without limit, the default) to 2,147,483,647. */
  timeout?: number;
  /** Reruns of a task whose worker ended: 0 (the default) to 1000. Only for tasks that may run twice. */
  retry?: number;
  /** Time in ms that an aborted task has to end, if its function has read its signal: 0 to 2,147,483,647. Default: 1000. */
  abortGrace?: number;
  /** Tasks after which a worker is replaced: 1 to 2^53 - 1. Default: Infinity. */
  maxTasksPerWorker?: number;
  /** Age in ms from which a worker is replaced after a task: 1 to 2^53 - 1. Default: Infinity. */
  maxWorkerAge?: number;
  /** Limits of each worker's memory, as `new Worker()` takes them. With them, no more workers start than the container has memory for. Default: those of V8. */
  resourceLimits?: ResourceLimits;
  /**
   * Limits the workers with tasks to the cores that other programs leave idle, by the CPU time of the machine and of the
   * container; at least one. Default: true if neither `minThreads` nor `maxThreads` is given.
   */
  idleCores?: boolean;
  /** Share of the container's memory in use, from which on tasks run one at a time: 0.01 to 1. Default: 0.92. */
  throttleAbove?: number;
  /**
   * Share in use below which throttling ends: 0 to 1, less than `throttleAbove`. Default: 0.85, or 0.07 less than `throttleAbove`
   * if that is lower.
   */
  throttleBelow?: number;
  /** Arguments of the workers, as `new Worker()` takes them. Default: none. */
  argv?: unknown[];
  /** Node.js options of the workers, as `new Worker()` takes them. Default: those of this process. */
  execArgv?: string[];
  /** Environment of the workers, as `new Worker()` takes it. Default: a copy of this process's. */
  env?: WorkerOptions['env'];
  /** `workerData` of the workers. Default: none. */
  workerData?: unknown;
  /** Closes descriptors that a worker leaves open. Default: true. */
  trackUnmanagedFds?: boolean;
  /** Your own queue instead of priorities and shares. Tasks then leave one by one. Default: none. */
  taskQueue?: TaskQueue;
  /** Chooses the worker of each task. Tasks then leave one by one. Default: none. */
  loadBalancer?: LoadBalancer;
  /**
   * Runs tasks strictly in the order of the calls, whatever the functions and priorities: they then leave one by one.
   * Default: false.
   */
  stricterFIFO?: boolean;
  /** Added to the niceness of the workers, with the package `@napi-rs/nice`: 0 or more; on Windows below 0, too. Default: 0. */
  niceIncrement?: number;
  /** Time in ms that `close()` waits for running tasks: 0 to 2,147,483,647. Default: 30,000. */
  closeTimeout?: number;
  /** Keeps times for `histogram`. Default: true. */
  recordTiming?: boolean;
  /** Keeps times per worker, for balancers. Default: false. */
  workerHistogram?: boolean;
  /** Accepted, without effect: workers here wait for messages, so that their timers and streams go on. Default: none. */
  atomics?: 'sync' | 'async' | 'disabled';
}

const maxMs = 2_147_483_647;
const infinity = is.choice([Number.POSITIVE_INFINITY]);
const isText = (value: unknown) => typeof value === 'string';

/** Messages of options that piscina has too are worded as there. */
function asPiscina<F extends is.Field<any, any, any>>(words: string, field: F): F {
  const message = (name: string, shown: string, wanted: string) =>
    `options.${name} must be ${wanted}; it is ${shown}`;
  return { ...field, wanted: words, message };
}

const flag = <Usual extends boolean>(usual: Usual) => asPiscina('a boolean', is.boolean(usual));
const nullOr = <Value>(fits: (value: unknown) => boolean) =>
  is.custom<Value | null>('', (value) => value === null || fits(value));

export const poolSchema = is.schema({
  filename: asPiscina(
    'a string or null',
    nullOr<string | URL>((value) => isText(value) || isURL(value)),
  ),
  name: asPiscina('a string or null', nullOr<string>(isText)),
  // Read by {@link functionsOf}.
  functions: is.custom<Readonly<Record<string, FunctionSource>>>(
    'an object of files',
    (value) => value === null || is.isObject(value),
  ),
  minThreads: asPiscina('a non-negative integer, up to 1024', is.number(0, 1024)),
  maxThreads: asPiscina('a positive integer, up to 1024', is.number(1, 1024)),
  idleTimeout: asPiscina(
    `a non-negative integer of ms, up to ${maxMs}, or Infinity`,
    is.or(is.either(is.ms(0, maxMs), infinity), 10_000),
  ),
  maxQueue: asPiscina(
    "a non-negative integer, up to 100000000, Infinity, or 'auto'",
    is.or(is.either(is.integer(0, 100_000_000), infinity, is.choice(['auto'])), 1_000_000),
  ),
  concurrentTasksPerWorker: asPiscina('a positive integer, up to 512', is.integer(1, 512, 1)),
  maxBatch: is.integer(1, 512, 512),
  priority: is.or(priorityField, 'normal'),
  aging: is.ms(1, maxMs, 1000),
  timeout: is.ms(0, maxMs, 0),
  retry: is.integer(0, 1000, 0),
  abortGrace: is.ms(0, maxMs, 1000),
  maxTasksPerWorker: is.or(
    is.either(is.integer(1, Number.MAX_SAFE_INTEGER), infinity),
    Number.POSITIVE_INFINITY,
  ),
  maxWorkerAge: is.or(
    is.either(is.ms(1, Number.MAX_SAFE_INTEGER), infinity),
    Number.POSITIVE_INFINITY,
  ),
  resourceLimits: asPiscina(
    'an object',
    is.custom<ResourceLimits>('', (value) => typeof value === 'object' && value !== null),
  ),
  idleCores: is.boolean(),
  throttleAbove: is.number(0.01, 1, usualShares.above),
  throttleBelow: is.number(0, 1),
  // Read by `new Worker()`.
  argv: is.anything(),
  execArgv: is.anything(),
  env: is.anything(),
  workerData: is.anything(),
  trackUnmanagedFds: flag(true),
  taskQueue: asPiscina('a TaskQueue object', is.or(is.custom<TaskQueue>('', isTaskQueue), null)),
  loadBalancer: asPiscina(
    'a function with at least two args',
    is.custom<LoadBalancer>('', (value) => typeof value === 'function' && value.length >= 1),
  ),
  stricterFIFO: flag(false),
  niceIncrement: asPiscina(
    'a non-negative integer on Unix systems',
    is.or(
      is.custom<number>(
        '',
        (value) =>
          Number.isInteger(value) && ((value as number) >= 0 || process.platform === 'win32'),
      ),
      0,
    ),
  ),
  closeTimeout: is.ms(0, maxMs, 30_000),
  recordTiming: flag(true),
  workerHistogram: flag(false),
  atomics: asPiscina(
    "'sync', 'async' or 'disabled'",
    is.choice(['sync', 'async', 'disabled', null]) as is.Field<'sync' | 'async' | 'disabled'>,
  ),
} satisfies is.FieldsOf<PoolOptions>);

type Parsed = is.Parsed<typeof poolSchema.fields>;

/** Returns the options' own properties: nothing from a manipulated prototype. */
export function own<T extends object>(options: T): T {
  return Object.assign(Object.create(null), options);
}

const what = 'Pool';

export function settingsOf(given: PoolOptions) {
  const options = parse(what, is.isObject(given) ? own(given) : given, poolSchema);
  const { min, max, followsShare } = threadsOf(options);
  const { idleCores = followsShare } = options;
  const { above, below } = sharesOf(options);
  const { argv, execArgv, env, workerData, resourceLimits, trackUnmanagedFds, ...others } = options;
  const { concurrentTasksPerWorker, workerHistogram, atomics, ...rest } = others;
  const filename = options.filename ? pathOf(options.filename, what, 'filename') : null;
  const name = options.name ?? 'default';
  const { maxQueue } = options;
  return {
    ...rest,
    filename,
    name,
    functions: functionsOf(what, options.functions ?? {}),
    minThreads: min,
    maxThreads: max,
    followsShare,
    idleCores,
    throttleAbove: above,
    throttleBelow: below,
    maxQueue: maxQueue === 'auto' ? max ** 2 : maxQueue,
    concurrency: concurrentTasksPerWorker,
    priority: classOf(options.priority),
    histogram: workerHistogram,
    preload: filename === null ? null : ([filename, name] satisfies ThreadOptions['preload']),
    clockOffsetMs: clockOffsetMs(),
    worker: workerOf(options),
  };
}

/** Options as a pool uses them; `followsShare`: the threads follow the CPUs that this process may use. */
export type Settings = ReturnType<typeof settingsOf>;

/**
 * Threads of a pool for a number of CPUs: one at least, and at most as many as there are whole CPUs, one if there is none.
 * Not rounded up: threads above a quota are stopped for the rest of each period, with the event loop among them.
 */
export function defaultThreads(cpus: number): { min: number; max: number } {
  return { min: 1, max: Math.max(1, Math.floor(cpus)) };
}

function threadsOf({ minThreads, maxThreads }: Parsed): {
  min: number;
  max: number;
  followsShare: boolean;
} {
  if (minThreads !== undefined && maxThreads !== undefined && minThreads > maxThreads) {
    // As piscina words it.
    const sentence = 'options.minThreads and options.maxThreads must not conflict; they are';
    throw fault(what, `${sentence} ${minThreads} and ${maxThreads}`);
  }
  const usual = defaultThreads(cpuShare());
  // Programs compute them from a number of CPUs: 1.5 is rounded up.
  const max = Math.ceil(maxThreads ?? Math.max(usual.max, minThreads ?? 0));
  const min = Math.ceil(minThreads ?? Math.min(usual.min, max));
  return { min, max, followsShare: minThreads === undefined && maxThreads === undefined };
}

/** Default distance of the two shares. */
const usualGap = usualShares.above - usualShares.below;

function sharesOf({ throttleAbove: above, throttleBelow }: Parsed): ThrottleShares {
  const below = throttleBelow ?? Math.max(0, Math.min(usualShares.below, above - usualGap));
  if (below < above) return { above, below };
  throw refused(what, 'throttleBelow', below, `below 'throttleAbove', which is ${above}`);
}

function workerOf({
  argv,
  execArgv,
  env,
  workerData,
  resourceLimits,
  trackUnmanagedFds,
}: Parsed): WorkerOptions {
  // Nothing from a prototype reaches `new Worker()` either.
  return own({
    ...(argv && { argv }),
    ...(execArgv && { execArgv }),
    ...(env !== undefined && { env }),
    ...(resourceLimits && { resourceLimits }),
    workerData,
    trackUnmanagedFds,
  });
}

// ---- functions

/** File with functions, and the name of one of its exports; `default` if none is given. */
export type FunctionSource = string | URL | { filename: string | URL; name?: string };

/** Returns the option `functions`, by name; `what` begins the messages. */
function functionsOf(
  what: string,
  given: Readonly<Record<string, FunctionSource>>,
): Map<string, { filename: string; name: string }> {
  return new Map(
    Object.entries(given).map(([name, source]) => [
      name,
      sourceOf(source, what, `functions.${name}`),
    ]),
  );
}

const sourceSchema = is.schema({
  // Read by {@link pathOf}.
  filename: is.anything<string | URL>(),
  name: is.or(is.text('a string: the name of an export'), 'default'),
});

/** A file and an export of it; `option` is what it is called in a message. */
export function sourceOf(
  source: FunctionSource,
  what: string,
  option: string,
): { filename: string; name: string } {
  if (typeof source !== 'object' || source === null || isURL(source)) {
    return { filename: pathOf(source, what, option), name: 'default' };
  }
  const { filename, name } = parseValue(what, option, source, is.object(sourceSchema));
  return { filename: pathOf(filename, what, `${option}.filename`), name };
}

/** The path of a file. A function's code as text is not one: workers only run what is in files. */
export function pathOf(file: unknown, what: string, option: string): string {
  const path = isURL(file) ? file.href : file;
  if (typeof path !== 'string' || path === '') {
    throw refused(what, option, file, 'a string: the path or file: URL of a file');
  }
  if (path.startsWith('file:')) return fileURLToPath(path);
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) && !isAbsolute(path)) {
    const why = 'a path or a file: URL: workers run what is in files, nothing else';
    throw refused(what, option, path, why);
  }
  return isAbsolute(path) ? path : resolve(path);
}

// ---- calls

/** Options of `Pool.run()`, for one task. */
export interface RunOptions {
  /**
   * Parts of the task that are moved to the worker instead of copied. Such a task is not sent again if its worker ends.
   * Default: none.
   */
  transferList?: readonly TransferItem[];
  /** File with the function; default: the pool's. */
  filename?: string | URL | null;
  /** Name of a registered function, or of an export of the file; default: the pool's. */
  name?: string | null;
  /**
   * Signal to abort the call, which then rejects: a waiting task does not start; a running one is asked to end, else its
   * worker is ended. Default: none.
   */
  signal?: AbortSource | null;
  /** Priority. Default: the pool's, which is 'normal'. */
  priority?: Priority;
  /** Longest time in ms that the task may run, from its beginning: 0 (without limit) to 2,147,483,647. Default: the pool's. */
  timeout?: number;
  /** Reruns of the task if its worker ended: 0 to 1000. Default: the pool's. */
  retry?: number;
  /** `context.id` for the function: for tasks of a queue. Default: none. */
  id?: string;
  /**
   * `context.delivery` for the function, the deliveries to a worker so far: 1 to 2^53 - 1. Default: 1 plus the runs that were
   * begun before.
   */
  delivery?: number;
}

const run = 'Pool.run()';
const { timeout: timeoutField, retry: retryField } = poolSchema.fields;
const deliveryField = is.integer(1, Number.MAX_SAFE_INTEGER);

const none: readonly TransferItem[] = [];

function transfersOf(
  task: unknown,
  list: readonly TransferItem[] | undefined,
): readonly TransferItem[] {
  if (!isMoved(task)) return list === undefined || list.length === 0 ? none : [...list];
  return [...(list ?? none), ...transferOf(task)];
}

/** Options of a call that are not given. */
const unsaid: Readonly<Record<string, unknown>> = {
  transferList: undefined,
  filename: undefined,
  name: undefined,
  signal: undefined,
  priority: undefined,
  timeout: undefined,
  retry: undefined,
  id: undefined,
  delivery: undefined,
};
const callNames = Object.keys(unsaid);

/** Returns the options of a call as given; nothing comes from a manipulated prototype. */
export function callOf(options: RunOptions): RunOptions {
  const said: Record<string, unknown> = { ...unsaid };
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(unsaid, key)) throw unknown(run, key, callNames);
    said[key] = options[key as keyof RunOptions];
  }
  return said;
}

/** Null if there is nothing but a function and an argument. */
export function extrasOf(
  task: unknown,
  given: RunOptions,
  { timeout, retry }: Pick<Settings, 'timeout' | 'retry'>,
): TaskExtras | null {
  const {
    transferList,
    signal = null,
    timeout: timeoutMs = timeout,
    retry: retriesLeft = retry,
    id = null,
    delivery = null,
  } = given;
  if (transferList !== undefined && !Array.isArray(transferList)) {
    throw badArgument('transferList', 'an Array', transferList);
  }
  if (
    signal !== null &&
    (typeof signal !== 'object' || !('once' in signal || 'addEventListener' in signal))
  ) {
    throw badArgument('signal', 'an object that says abort', signal);
  }
  if (id !== null && typeof id !== 'string') throw badArgument('id', 'a string', id);
  const transfers = transfersOf(task, transferList);
  const isUsual = signal === null && timeoutMs === 0 && retriesLeft === 0;
  if (isUsual && transfers === none && id === null && delivery === null) return null;
  if (timeoutMs !== timeout) parseValue(run, 'timeout', timeoutMs, timeoutField);
  if (retriesLeft !== retry) parseValue(run, 'retry', retriesLeft, retryField);
  if (delivery !== null) parseValue(run, 'delivery', delivery, deliveryField);
  return {
    transferList: transfers,
    signal,
    timeoutMs,
    retriesLeft,
    id,
    delivery,
    unlisten: null,
    givenUp: null,
  };
}

export function badArgument(name: string, what: string, value: unknown): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${name}${name === 'options' ? '' : ' argument'} must be ${what}; it is ${show(value)}`,
  );
}
