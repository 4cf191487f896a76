/**
 * State that the parts of a client share, and those of a worker: settings, connection, names and counters; and the events of
 * a worker.
 */

import type { MillraceError } from '@millrace/base/errors';
import type { PoolStats } from '@millrace/pool';
import type { Link } from '../link.js';
import type { LinkStats } from '../options.js';
import type { ClientSettings, WorkerSettings } from './options.js';
import type { QueueName, TaskLag, TaskNames } from './streams.js';

/** Counters of a client. */
export class ClientCounts {
  /** Settled calls of `run()`; those among them that were rejected. */
  completed = 0;
  failed = 0;
  /** Tasks refused for lack of room, here or in the stream. */
  refused = 0;
  /** Messages built from tasks, and the tasks in them. */
  messages = 0;
  packed = 0;
  /** Calls refused because another task of their id was stored before. */
  duplicates = 0;
  /** Results that arrived again, or for calls no longer waiting. */
  repeated = 0;
}

/** Snapshot that `TaskClient.stats()` returns. */
export interface TaskClientStats extends Readonly<Omit<ClientCounts, 'packed'>> {
  /** Tasks not stored yet; `total` includes those in transit to the broker. */
  readonly queued: {
    readonly high: number;
    readonly normal: number;
    readonly low: number;
    readonly total: number;
  };
  /** Limit on the queued tasks. */
  readonly maxQueue: number;
  /** Calls of `run()` whose tasks are stored and not done. */
  readonly running: number;
  /** Tasks in a message, on average. */
  readonly meanBatch: number;
  /** Messages that the broker has stored; messages that were sent again until it confirmed them. */
  readonly stored: number;
  readonly resent: number;
  readonly link: LinkStats;
}

/** Counters of a worker. */
export class WorkerCounts {
  /** Messages received, and the tasks in them. */
  messages = 0;
  tasks = 0;
  /** Tasks that ran to completion. */
  done = 0;
  /** Tasks that threw, timed out, or ended their thread; those among them that were stored for another attempt. */
  failed = 0;
  retried = 0;
  /** Tasks that became dead letters. */
  dead = 0;
  /** Tasks aborted by their callers. */
  cancelled = 0;
  /** Messages redelivered from a silent worker: their tasks run alone from then on. */
  suspects = 0;
  /** Messages redelivered although they are running, or are done, here: they were not run again. */
  repeated = 0;
  /** Tasks returned to the stream: this worker ended, or its pool refused them. */
  returned = 0;
}

/** Snapshot that `TaskWorker.stats()` returns. */
export interface TaskWorkerStats extends Readonly<WorkerCounts> {
  /** Tasks that the worker has now. */
  readonly held: Readonly<Record<QueueName, number>>;
  /**
   * Results in transit to clients; results that clients have confirmed; results dropped because their client did not come
   * back.
   */
  readonly results: {
    readonly pending: number;
    readonly confirmed: number;
    readonly givenUp: number;
  };
  /** Lag as of some seconds ago; null until it is known. */
  readonly lag: TaskLag | null;
  readonly pool: PoolStats;
  readonly link: LinkStats;
}

/** Task in an event, for logs. */
export interface TaskEvent {
  readonly id: string;
  /** Name of its function; empty for the default one. */
  readonly name: string;
  /** Deliveries so far, this one included. */
  readonly delivery: number;
  /** Error of the task, in one line. */
  readonly error: string;
}

/** Events of a worker, and the arguments of their listeners. */
export interface TaskWorkerEvents {
  /** The broker is connected, and tasks arrive. */
  up: [];
  /** The broker is away or fails; the worker keeps trying. */
  down: [error: MillraceError];
  /** A task has failed and is retried after `delayMs`. */
  retry: [task: TaskEvent & { readonly delayMs: number }];
  /** A task has become a dead letter. */
  dead: [task: TaskEvent];
  close: [];
}

/** Shared by the parts of a client. */
export interface ClientContext {
  readonly settings: ClientSettings;
  readonly link: Link;
  readonly names: TaskNames;
  readonly counts: ClientCounts;
}

/** Shared by the parts of a worker. */
export interface WorkerContext {
  readonly settings: WorkerSettings;
  readonly link: Link;
  readonly names: TaskNames;
  readonly counts: WorkerCounts;
  /** `close()` was called. */
  isClosing: boolean;
  /** Emits an event of the worker. */
  emit<Name extends keyof TaskWorkerEvents>(name: Name, ...args: TaskWorkerEvents[Name]): void;
}
