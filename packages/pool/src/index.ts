/**
 * CPU tasks on worker threads, sent in batches.
 *
 * @module pool
 */
import { Pool } from './pool.js';
import { state } from './protocol.cjs';

export { AbortError, type AbortSource } from '@millrace/base/abort';
export {
  move,
  queueOptionsSymbol,
  type Transferable,
  transferableSymbol,
  valueSymbol,
} from '@millrace/base/movable';
export {
  type ByteSource,
  type FileChunk,
  type FileChunksOptions,
  fileChunks,
  type LineChunk,
  type LineChunksOptions,
  lineChunks,
} from './chunks.js';
export type { FunctionSource, LoadBalancer, PoolOptions, RunOptions } from './options.js';
export { type CloseOptions, Pool, Pool as Piscina, type PoolEvents, version } from './pool.js';
export { ArrayTaskQueue, FixedQueue, type PoolTask, type TaskQueue } from './queue.js';
export type {
  DurationsSummary,
  PoolHistogram,
  PoolStats,
  PoolTimes,
  RunningTask,
} from './stats.js';
export type { PoolWorker } from './thread.js';
export type { TaskContext } from './worker/functions.cjs';
export {
  type Allocation,
  type AllocationReason,
  type AllocationSource,
  logAllocations,
} from './workers.js';

/** True in a worker thread of a pool. */
export const isWorkerThread: boolean = state.isWorkerThread;
/** `workerData` of the pool, in its workers. */
export const workerData: unknown = state.workerData;

export default Pool;

// `const Piscina = require('piscina')` is a class; so is this module for `require()`.
export { Pool as 'module.exports' };
