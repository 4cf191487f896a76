/** Shared by the parts of a worker: its settings, its connection, and the events that it emits. */
import type { MillraceError } from '../../errors.js';
import type { Link } from '../link.js';
import type { WorkerSettings } from './options.js';
import type { WorkerCounts } from './stats.js';
import type { TaskNames } from './streams.js';

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
