/** What a worker tells its listeners. */
import type { MillraceError } from '../../errors.js';

/** What became of a task, for logs. */
export interface TaskEvent {
  readonly id: string;
  /** Of its function; empty for the usual one. */
  readonly name: string;
  /** How often it was delivered, this time included. */
  readonly delivery: number;
  /** What it failed with, in one line. */
  readonly error: string;
}

/** Events of a worker, and what their listeners get. */
export interface TaskServerEvents {
  /** The broker is there, and tasks come. */
  up: [];
  /** It is away, or something is wrong with it; it is tried on. */
  down: [error: MillraceError];
  /** A task has failed and is tried again after so many ms. */
  retry: [task: TaskEvent & { readonly delayMs: number }];
  /** A task has become a dead letter. */
  dead: [task: TaskEvent];
  close: [];
}
