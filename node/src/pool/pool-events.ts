import type { Allocation } from './allocations.js';
import type { PoolWorker } from './thread.js';

/** Events of a pool, and what their listeners get. */
export interface PoolEvents {
  /** Something went wrong in a worker while it had no task, or a task ran for longer than `closeTimeout`. */
  error: [error: Error];
  /** There is room for tasks again. */
  drain: [];
  /** Every worker that there may be has all that it can run. */
  needsDrain: [];
  /** A worker's code has posted a message of its own. */
  message: [value: unknown];
  workerCreate: [worker: PoolWorker];
  workerDestroy: [worker: PoolWorker];
  allocation: [allocation: Allocation];
  close: [];
}
