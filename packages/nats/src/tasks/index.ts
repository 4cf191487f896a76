/**
 * Durable tasks: stored in a stream of a NATS server by clients, and run by workers on any machine, at least once.
 *
 * @module nats/tasks
 */
export { type Enqueued, TaskClient } from './client.js';
export type { TaskClientStats, TaskEvent, TaskWorkerEvents, TaskWorkerStats } from './context.js';
export { type DeadLetter, TaskOperator } from './operator.js';
export type {
  EnqueueOptions,
  StreamOptions,
  TaskClientOptions,
  TaskOptions,
  TaskWorkerOptions,
} from './options.js';
export type { QueueLag, TaskLag } from './streams.js';
export { TaskWorker } from './worker.js';
