/** What the parts of a client share, and those of a worker: settings, connection, names and counters; and the events of a worker. */

import type { MillraceError } from '@millrace/base/errors';
import type { PoolStats } from '@millrace/pool';
import type { Link } from '../link.js';
import type { LinkStats } from '../options.js';
import type { ClientSettings, WorkerSettings } from './options.js';
import type { QueueName, TaskLag, TaskNames } from './streams.js';

/** Counters of a client. */
export class ClientCounts {
  /** Calls of `run()` that have been answered; those of them that were rejected. */
  completed = 0;
  failed = 0;
  /** Tasks for which there was no room, here or in the stream. */
  refused = 0;
  /** Messages that were made of tasks, and the tasks in them. */
  messages = 0;
  packed = 0;
  /** Calls that were refused as another task of their id was stored before. */
  duplicates = 0;
  /** Results that came again, or for calls that had been given up. */
  repeated = 0;
}

/** Returned by `TaskClient.stats()`: a snapshot. */
export interface TaskClientStats extends Readonly<Omit<ClientCounts, 'packed'>> {
  /** Tasks that are not stored yet; `total` has also those on their way to the broker. */
  readonly queued: {
    readonly high: number;
    readonly normal: number;
    readonly low: number;
    readonly total: number;
  };
  /** How many tasks may be queued. */
  readonly maxQueue: number;
  /** Calls of `run()` whose tasks are stored and not answered. */
  readonly running: number;
  /** Tasks in a message, on average. */
  readonly meanBatch: number;
  /** Messages that the broker has stored; those that were sent again until it said so. */
  readonly stored: number;
  readonly resent: number;
  readonly link: LinkStats;
}

/** Counters of a worker. */
export class WorkerCounts {
  /** Messages that came, and tasks in them. */
  messages = 0;
  tasks = 0;
  /** Tasks that ran to their end. */
  done = 0;
  /** Those that threw, timed out, or ended their thread; those of them that were stored to be tried again. */
  failed = 0;
  retried = 0;
  /** Tasks that became dead letters. */
  dead = 0;
  /** Tasks that were aborted by their callers. */
  cancelled = 0;
  /** Messages that came again from a worker that was silent: their tasks run alone from then on. */
  suspects = 0;
  /** Messages that came again although they are being done, or were done, here: they were not begun. */
  repeated = 0;
  /** Tasks that were given back: this worker ended, or its pool refused them. */
  returned = 0;
}

/** Returned by `TaskWorker.stats()`: a snapshot. */
export interface TaskWorkerStats extends Readonly<WorkerCounts> {
  /** Tasks that it has now. */
  readonly held: Readonly<Record<QueueName, number>>;
  /** Results on their way to clients; those that clients have confirmed; those that were kept for a client that did not come back. */
  readonly results: {
    readonly pending: number;
    readonly confirmed: number;
    readonly givenUp: number;
  };
  /** As of some seconds ago; null until it is known. */
  readonly lag: TaskLag | null;
  readonly pool: PoolStats;
  readonly link: LinkStats;
}

/** A task in an event, for logs. */
export interface TaskEvent {
  readonly id: string;
  /** Of its function; empty for the default one. */
  readonly name: string;
  /** How often it was delivered, this time included. */
  readonly delivery: number;
  /** Its error, in one line. */
  readonly error: string;
}

/** Events of a worker, and the arguments of their listeners. */
export interface TaskWorkerEvents {
  /** The broker is there, and tasks come. */
  up: [];
  /** The broker is away, or something is wrong with it; the worker tries on. */
  down: [error: MillraceError];
  /** A task has failed and is tried again after so many ms. */
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
