/**
 * The functions of r-loadBalancer by their names, on the pool, the cluster and the monitor.
 *
 * One pool, made at first use, runs the tasks of all of them; it keeps no process alive. Import this module early: idle cores
 * are measured from then on, or from the last question.
 *
 * @module cluster/r-load-balancer
 */
import { existsSync } from 'node:fs';
import { loadavg, uptime } from 'node:os';
import { MillraceError, show } from '@millrace/base/errors';
import { type Core, type Cores, CoreWatch } from '@millrace/base/limits/cores';
import { limits, type SystemMemory, systemMemory } from '@millrace/base/limits/limits';
import { check, parseValue } from '@millrace/base/options';
import { isURL } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { memoryUsage, type ProcessMemory } from '@millrace/monitor';
import {
  type FileChunk,
  type FileChunksOptions,
  fileChunks,
  Pool,
  type PoolStats,
} from '@millrace/pool';
import {
  type AllocatorOptions,
  allocate,
  type LoadBalancerOptions,
  loadBalancerSchema,
} from './allocator.js';
import type { Cluster } from './cluster.js';
import { serve } from './serve.js';
import type { App, ClusterWorker } from './worker.js';

export type { AllocatorOptions, LoadBalancerOptions } from './allocator.js';

/** A core that was idle for more than this share of the time is idle. */
const usualThreshold = 0.1;

const cores = new CoreWatch();
let pool: Pool | null = null;

/** The pool of all tasks here. */
function tasks(): Pool {
  pool ??= new Pool();
  return pool;
}

/**
 * Returns the memory of this process in bytes, as `process.memoryUsage()` does, and the limits of the heap and the container.
 * Tens of µs.
 */
export function getMemoryUsage(): ProcessMemory {
  return memoryUsage();
}

// ---- tasks

/**
 * Function to run: the default export of a file, given by its path or `file:` URL, or the named one. Paths are relative to
 * the working directory.
 */
export type WorkerTask = string | URL | { readonly filename: string | URL; readonly name?: string };

/** A task of a queue. */
export interface QueuedTask {
  readonly task: WorkerTask;
  /** Argument of the function. */
  readonly data?: unknown;
}

const taskSchema = is.schema({
  filename: is.anything<string | URL>(),
  name: is.or(is.text('a string: the name of an export'), 'default'),
});

/**
 * Runs a function of a file on a worker thread: `fn(data)`. Resolves to what it returns. It never runs code in a string.
 *
 * Rejects with what the function throws; with MILLRACE_E_INVALID_ARGUMENT for anything but a file, MILLRACE_E_INVALID_OPTION
 * for an object with unknown properties, MILLRACE_E_TASK_FILE for a file without such a function, and as `Pool.run()` does.
 */
export async function runWorkerTask<Result = unknown>(
  task: WorkerTask,
  data?: unknown,
): Promise<Result> {
  return tasks().run(data, functionOf(task));
}

function functionOf(task: WorkerTask): { filename: string | URL; name: string } {
  const isFile = !is.isObject(task) || isURL(task);
  const source = isFile ? { filename: task as string | URL } : task;
  const field = is.object(taskSchema);
  const { filename, name } = parseValue('runWorkerTask()', 'task', source, field);
  if (isThere(filename)) return { filename: filename as string | URL, name };
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `runWorkerTask(): ${show(filename)} is not an existing file; it runs functions that files export, never code: give the path or URL of a file, or { filename, name }`,
  );
}

function isThere(file: unknown): boolean {
  if (isURL(file)) return existsSync(file);
  if (typeof file !== 'string') return false;
  return existsSync(file.startsWith('file:') ? new URL(file) : file);
}

/**
 * Takes all tasks out of the array, and runs them while cores are idle and memory is available. Returns a promise per task,
 * in their order, as {@link runWorkerTask} does: each is settled, even if others fail. Tasks of one function begin in their
 * order.
 *
 * Throws MILLRACE_E_INVALID_ARGUMENT for anything but an array.
 */
export function manageCpuBoundTasks(taskQueue: QueuedTask[]): Promise<unknown>[] {
  if (!Array.isArray(taskQueue)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `manageCpuBoundTasks() takes an array of tasks { task, data }, not ${show(taskQueue)}`,
    );
  }
  return taskQueue.splice(0).map(async (queued) => {
    const { task, data } = parseValue('manageCpuBoundTasks()', 'task', queued, queuedField);
    return runWorkerTask(task as WorkerTask, data);
  });
}

const queuedField = is.object(is.schema({ task: is.anything(), data: is.anything() }));

// ---- resources

const thresholdField = is.number(0, 1);

function look(who: string, threshold: number): Cores {
  return cores.read(parseValue(who, 'threshold', threshold, thresholdField));
}

/**
 * Returns the number of cores of this process that were idle for more than `threshold` of the time (0 to 1, default 0.1)
 * since the last question, at least 500 ms ago. A quota counts: it counts no more idle cores than the quota allows. Reads
 * small files of the kernel: a fraction of a ms.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION`
 */
export function detectIdleCores(threshold: number = usualThreshold): number {
  return look('detectIdleCores()', threshold).idle;
}

/** Idle cores, the idlest first, judged as by {@link detectIdleCores}. */
export function getIdleCores(threshold: number = usualThreshold): Core[] {
  const { idle, each } = look('getIdleCores()', threshold);
  const found = each.filter(({ idleShare }) => idleShare > threshold);
  return found.sort((a, b) => b.idleShare - a.idleShare).slice(0, idle);
}

/**
 * Checks the task queue, the idle cores and the memory each `interval`, and logs a line when the treatment of waiting tasks
 * has changed: `wait` (there are none), `hold` (no core is idle), `throttle` (memory is short: one at a time, so that I/O
 * goes first), `allocate`. The pool does so by itself, without this function. Returns a function that stops it. It keeps no
 * process alive.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION`
 */
export function dynamicResourceAllocator(options: AllocatorOptions = {}): () => void {
  return allocate(() => {
    const { count, idle } = cores.read(usualThreshold);
    const stats = pool?.stats();
    const { usedBytes, totalBytes } = systemMemory();
    return {
      queued: stats?.queued.total ?? 0,
      running: stats?.running ?? 0,
      idleCores: idle,
      cores: count,
      throttled: stats?.throttled ?? false,
      memoryUsed: usedBytes / totalBytes,
    };
  }, options);
}

/** Result of {@link getHealthMetrics}: plain data. */
export interface HealthMetrics {
  /** Seconds. */
  readonly uptime: { readonly process: number; readonly system: number };
  readonly cpu: {
    /** CPUs that this process may use, not rounded. */
    readonly limit: number;
    /** Load averages of the machine, over 1, 5 and 15 minutes; 0 on Windows. */
    readonly loadAverage: readonly number[];
    readonly cores: Cores;
  };
  /** Memory in bytes: of the container, or of the machine if it has no limit, and of this process. */
  readonly memory: SystemMemory & { readonly process: ProcessMemory };
  /** Tasks and workers; null before the first task. */
  readonly tasks: PoolStats | null;
}

/**
 * Returns the state of this process and of its resources, for a route such as `/health`. Reads files of the kernel: about a
 * ms.
 */
export function getHealthMetrics(): HealthMetrics {
  return {
    uptime: { process: process.uptime(), system: uptime() },
    cpu: { limit: limits().cpus, loadAverage: loadavg(), cores: cores.read(usualThreshold) },
    memory: { ...systemMemory(), process: memoryUsage() },
    tasks: pool?.stats() ?? null,
  };
}

/**
 * Returns ranges of a file for workers, one per idle core, at least one; as `fileChunks()` of `@millrace/pool`, whose options
 * these are. Each but the last ends after a line end.
 */
export function getFileChunks(
  path: string | Uint8Array | URL,
  options: FileChunksOptions = {},
): Promise<FileChunk[]> {
  return fileChunks(path, { chunks: Math.max(1, detectIdleCores()), ...options });
}

// ---- processes

/**
 * Serves an application with `serve()`, in processes for the CPUs that this process may use, less the shares reserved for I/O
 * (`reserve`) and for tasks (`poolThreads`, here 1 by default); one that dies is replaced. The program runs again in each
 * process, up to this call, or the application is in a file. Starts {@link dynamicResourceAllocator} in each process that
 * calls it. `port` is 0 to 65,535; default `PORT` of the environment, or 3000.
 *
 * @returns as `serve()`: the cluster in the primary, the process in the others
 * @throws {MillraceError} as `serve()` does
 */
export async function startLoadBalancer(
  app: App | string | URL,
  port?: number,
  options: LoadBalancerOptions = {},
): Promise<Cluster | ClusterWorker> {
  check('startLoadBalancer()', options, loadBalancerSchema);
  const { allocator = {}, ...others } = options;
  const stop = dynamicResourceAllocator(allocator);
  try {
    const place = port === undefined ? {} : { port };
    const served = await serve(app as App, { poolThreads: 1, ...others, ...place });
    if (served.isPrimary) served.once('close', stop);
    return served;
  } catch (error) {
    stop();
    throw error;
  }
}
