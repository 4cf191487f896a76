/** Events of a pool: what its listeners get, what the scheduler reports, and a log of what is allocated. */
import { MillraceError, show } from '../errors.js';
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

/** What the scheduler and its workers report to the pool. */
export interface SchedulerEvents {
  emit(event: string, ...args: unknown[]): void;
  allocated(reason: AllocationReason): void;
}

/** Why the number of workers has changed; `share`: this process got more or fewer CPUs in its cluster. */
export type AllocationReason = 'load' | 'idle' | 'memory' | 'crash' | 'recycle' | 'share';

/** Event `allocation` of a pool: the number of its workers has changed, or it was throttled, or is no longer. */
export interface Allocation {
  /** Time of day in ms, as `Date.now()`. */
  readonly at: number;
  /**
   * `load`: a worker for tasks that wait; `idle`: one less, as it had nothing to do; `memory`: the throttle; `crash`: one has
   * ended without being told to; `recycle`: one was replaced, or ended, as nothing else would have ended its task; `share`: the
   * process may use more or fewer CPUs.
   */
  readonly reason: AllocationReason;
  /** Workers now. */
  readonly workers: number;
  readonly maxThreads: number;
  /** Tasks that wait. */
  readonly queued: number;
  /** Tasks that run. */
  readonly running: number;
  readonly memory: {
    /** What the workers may grow to, in bytes. */
    readonly reservedBytes: number;
    /** What the container, or the machine, allows, in bytes. */
    readonly limitBytes: number;
    /** Memory is short: no more workers, and fewer tasks at a time. */
    readonly throttled: boolean;
  };
}

/** A pool, as far as `logAllocations()` needs one. */
export interface AllocationSource {
  on(event: 'allocation', listener: (allocation: Allocation) => void): unknown;
  off(event: 'allocation', listener: (allocation: Allocation) => void): unknown;
}

/**
 * Writes a line for each allocation of a pool. Returns a function that ends this. `log`, by default `console.log`, is called
 * with one string. Throws MILLRACE_E_INVALID_ARGUMENT if it is no function.
 *
 *     2026-01-31T12:00:00.000Z pool: load, 3 of 4 workers, 120 tasks queued, 3 running, memory reserved 393 of 2048 MB
 */
export function logAllocations(
  pool: AllocationSource,
  log: (line: string) => void = console.log,
): () => void {
  if (typeof log !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `logAllocations() takes a function that is given each line, not ${show(log)}`,
    );
  }
  const listener = (allocation: Allocation) => log(line(allocation));
  pool.on('allocation', listener);
  return () => {
    pool.off('allocation', listener);
  };
}

function line({ at, reason, workers, maxThreads, queued, running, memory }: Allocation): string {
  const { reservedBytes, limitBytes, throttled } = memory;
  return [
    `${new Date(at).toISOString()} pool: ${reason}`,
    `${workers} of ${maxThreads} workers`,
    `${queued} ${queued === 1 ? 'task' : 'tasks'} queued`,
    `${running} running`,
    `memory reserved ${mebi(reservedBytes)} of ${mebi(limitBytes)} MB${throttled ? ', throttled' : ''}`,
  ].join(', ');
}

const mebi = (bytes: number): number => Math.round(bytes / 2 ** 20);
