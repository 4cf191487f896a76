/**
 * CPU tasks on worker threads, sent in batches.
 *
 * @module
 */
import { serveTasks } from './durable/worker.js';
import { Pool } from './pool.js';
import { state } from './protocol.cjs';

export {
  type ByteSource,
  type FileChunk,
  type FileChunksOptions,
  fileChunks,
  type LineChunk,
  type LineChunksOptions,
  lineChunks,
} from './chunks.js';
export type { Enqueued } from './durable/client.js';
export type { LaneLag, TaskLag } from './durable/lag.js';
export type { StreamOptions } from './durable/stream-options.js';
export {
  serveTasks,
  type TaskEvent,
  type TaskServer,
  type TaskServerEvents,
} from './durable/worker.js';
export type { WorkerOptions } from './durable/worker-options.js';
export type { TaskServerStats } from './durable/worker-stats.js';
export {
  type Allocation,
  type AllocationReason,
  type AllocationSource,
  logAllocations,
  type PoolEvents,
} from './events.js';
export { AbortError, type AbortSource } from './failure.js';
export {
  move,
  queueOptionsSymbol,
  type Transferable,
  transferableSymbol,
  valueSymbol,
} from './movable.cjs';
export type { LoadBalancer, PoolOptions } from './options.js';
export { type CloseOptions, Pool, Pool as Piscina, version } from './pool.js';
export { ArrayTaskQueue, FixedQueue, type PoolTask, type TaskQueue } from './queue.js';
export type { EnqueueOptions, RunOptions } from './run-options.js';
export type { FunctionSource } from './source.js';
export type {
  DurableStats,
  DurationsSummary,
  PoolHistogram,
  PoolStats,
  PoolTimes,
} from './stats.js';
export type { PoolWorker } from './thread.js';
export type { TaskContext } from './worker/functions.cjs';

/** Whether this thread is a worker of a pool. */
export const isWorkerThread: boolean = state.isWorkerThread;
/** In a worker: the `workerData` of its pool. */
export const workerData: unknown = state.workerData;

export default Pool;

/** What `require()` gives: the class `Pool`, as that of piscina, with what needs the class itself added. */
const whole: typeof Pool & { serveTasks: typeof serveTasks } = Object.assign(Pool, { serveTasks });

export { whole as 'module.exports' };
