import { Batcher } from './bulk/batcher.js';
import { checkKeys, type QueueOptions, queueOptionNames } from './core/options.js';
import type { QueueStats } from './core/stats.js';
import { MillraceError, show } from './errors.js';

/** What the bulk function gets beside the items. */
export interface BatchContext {
  /** Aborted when every call of this batch has been aborted: nobody waits for the results any more. */
  readonly signal: AbortSignal;
}

/**
 * The function that does many at once. Gets the items of a batch and returns one result for each, in the same order; an
 * `Error` among them fails that call alone. If it throws or rejects, every call of the batch fails with that error.
 */
export type BulkFunction<Item, Result> = (
  items: Item[],
  context: BatchContext,
) => PromiseLike<readonly (Result | Error)[]> | readonly (Result | Error)[];

/** Options of `batch()`. */
export interface BatchOptions<Item> extends Partial<Omit<QueueOptions, 'order'>> {
  /** Batches that may be in flight at once: 1 to 65,536, default 1. While that many are, calls gather. */
  concurrency?: number;
  /** Calls with the same key in one batch share one item and its result. Compared as Map keys are. Default: no sharing. */
  key?: (item: Item) => unknown;
  /** Bytes of an item, for `maxQueueBytes`. Default: 0. */
  size?: (item: Item) => number;
}

/** Options of one call of a batched function. */
export interface CallOptions {
  /** Aborting rejects this call with the signal's reason; if its batch has not left, its item is not part of it. Default: none. */
  signal?: AbortSignal;
}

export interface BatchStats extends QueueStats {
  /** Batches in flight now. */
  inFlight: number;
  /** Calls that shared another call's item. */
  shared: number;
}

/** A function of one item that works in batches. */
export interface Batched<Item, Result> {
  /**
   * Resolves to the item's result. Rejects with its error, with MILLRACE_E_OVERLOADED when the queue is full, with
   * MILLRACE_E_CLOSED after `close()`, or with the signal's reason.
   */
  (item: Item, options?: CallOptions): Promise<Result>;
  /** Sends what is queued as soon as `concurrency` allows; resolves when all calls made so far have settled. */
  flush(): Promise<void>;
  /** Refuses later calls; sends what is queued, or with `discard` rejects it; resolves when all calls have settled. */
  close(options?: { discard?: boolean }): Promise<void>;
  stats(): BatchStats;
}

const ownOptions = ['concurrency', 'key', 'size'];

/**
 * Groups calls of a bulk function: the calls of one tick go together, and while a batch is in flight the next one
 * gathers. A call that comes alone leaves at the end of its tick: nothing waits unless `maxDelay` says so.
 *
 * The dispatch point is the end of the microtask queue. Costs a promise and a queue entry a call.
 * Throws MILLRACE_E_INVALID_OPTION or MILLRACE_E_INVALID_ARGUMENT.
 */
export function batch<Item, Result>(
  fn: BulkFunction<Item, Result>,
  options: BatchOptions<Item> = {},
): Batched<Item, Result> {
  if (typeof fn !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `batch() needs the bulk function as its first argument, not ${show(fn)}`,
    );
  }
  const names = queueOptionNames.filter((name) => name !== 'order');
  checkKeys('the options of batch()', options, [...names, ...ownOptions]);
  const batcher = new Batcher(fn, options);
  return Object.assign((item: Item, callOptions?: CallOptions) => batcher.call(item, callOptions), {
    flush: () => batcher.flush(),
    close: (closeOptions?: { discard?: boolean }) => batcher.close(closeOptions),
    stats: () => batcher.stats(),
  });
}
