import type { Transferable as TransferItem } from 'node:worker_threads';
import type { PriorityClass } from '../core/intake/priority.js';
import type { AbortSource } from './abort.js';
import type { PoolFunction } from './function.js';
import { queueOptionsSymbol } from './movable.cjs';
import type { Thread } from './thread.js';

/** What only a few calls ask for. */
export interface TaskExtras {
  readonly transferList: readonly TransferItem[];
  readonly signal: AbortSource | null;
  readonly timeoutMs: number;
  /** How often it may still be begun again. */
  retriesLeft: number;
  /** Takes the listener off the signal. */
  unlisten: (() => void) | null;
  /** Somebody gave it up while it was on its way from the queue to a worker. */
  givenUp: (() => Error) | null;
}

let lastId = 0;

/**
 * A call of a function on a worker, from `run()` until its promise is settled. What queues and balancers of the user see of
 * it is the same object. There may be a million of them: what few need is in `extras`.
 */
export class Task {
  readonly of: PoolFunction;
  readonly priority: PriorityClass;
  /** When `run()` was called, in ms by this thread's clock. */
  readonly created: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  readonly extras: TaskExtras | null;
  readonly taskId = lastId++;
  /** The argument. */
  task: unknown;
  /** How often a worker ended that was about to begin it; how often one ended that had begun it. */
  returns = 0;
  attempts = 0;
  /** The worker it was sent to; null while it waits. */
  thread: Thread | null = null;
  /** While it waits, its place in its lane; then its number at the worker; -1 between the two. */
  number = 0;
  settled = false;

  constructor(
    of: PoolFunction,
    task: unknown,
    priority: PriorityClass,
    created: number,
    resolve: (result: never) => void,
    reject: (error: unknown) => void,
    extras: TaskExtras | null,
  ) {
    this.of = of;
    this.task = task;
    this.priority = priority;
    this.created = created;
    this.resolve = resolve;
    this.reject = reject;
    this.extras = extras;
  }

  get filename(): string {
    return this.of.filename;
  }

  get name(): string {
    return this.of.name;
  }

  get isAbortable(): boolean {
    return this.extras !== null && this.extras.signal !== null;
  }

  /** Its worker may have to be ended while it runs: it does not run beside others. */
  get guarded(): boolean {
    return this.extras !== null && (this.extras.signal !== null || this.extras.timeoutMs > 0);
  }

  /** Part of it leaves this thread when it is sent: it cannot be sent again. */
  get moves(): boolean {
    return this.extras !== null && this.extras.transferList.length > 0;
  }

  get [queueOptionsSymbol](): object | null {
    const task = this.task as { [queueOptionsSymbol]?: object } | null | undefined;
    return (typeof task === 'object' && task?.[queueOptionsSymbol]) || null;
  }
}
