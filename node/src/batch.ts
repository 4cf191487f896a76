import { checkBytes } from './core/admit/bounds.js';
import type { BatchEvent } from './core/batch/event.js';
import { MicrotaskHost } from './core/dispatch/clock.js';
import { type Batch, Engine, type Sink } from './core/engine.js';
import {
  checkKeys,
  discards,
  invalid,
  type QueueOptions,
  queueOptionNames,
} from './core/options.js';
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

export interface BatchOptions<Item> extends Partial<Omit<QueueOptions, 'order'>> {
  /** Batches that may be in flight at once: 1 to 65,536, default 1. While that many are, calls gather. */
  concurrency?: number;
  /** Calls with the same key in one batch share one item and its result. Compared as Map keys are. Default: no sharing. */
  key?: (item: Item) => unknown;
  /** Bytes of an item, for `maxQueueBytes`. Default: 0. */
  size?: (item: Item) => number;
}

export interface CallOptions {
  /** Aborting rejects this call with the signal's reason; if its batch has not left, its item is not part of it. */
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

interface Call<Item, Result> {
  readonly item: Item;
  readonly key: unknown;
  readonly waiters: Waiter<Result>[];
  event: BatchEvent | null;
  /** The batch it is in, once it has left. */
  flight: Flight | null;
}

interface Waiter<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
  signal: AbortSignal | null;
  onAbort: (() => void) | null;
  settled: boolean;
}

/** A batch in flight. */
interface Flight {
  /** Calls that somebody still waits for. */
  waiting: number;
  abort: AbortController | null;
  /** Nobody waits any more: the reason of the last one to leave. */
  aborted: { reason: unknown } | null;
}

const ownOptions = ['concurrency', 'key', 'size'];

/**
 * Groups calls of a bulk function: the calls of one tick go together, and while a batch is in flight the next one
 * gathers. A call that comes alone leaves at the end of its tick: nothing waits unless `maxDelay` says so.
 *
 * The flush point is the end of the microtask queue. Costs a promise and a queue entry a call.
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

class Batcher<Item, Result> implements Sink<Call<Item, Result>> {
  readonly #fn: BulkFunction<Item, Result>;
  readonly #concurrency: number;
  readonly #keyOf: ((item: Item) => unknown) | undefined;
  readonly #size: ((item: Item) => number) | undefined;
  readonly #engine: Engine<Call<Item, Result>>;
  /** All calls go to one place: the queue's map needs one type. */
  readonly #entry;
  /** Queued calls by key. */
  readonly #byKey = new Map<unknown, Call<Item, Result>>();
  /** Waiters that have not settled; what `flush` and `close` wait for. */
  readonly #unsettled = new Set<Waiter<Result>>();
  #flushes: { waiting: Set<unknown>; done: () => void }[] = [];
  #inFlight = 0;
  /** The engine waits for a batch to return. */
  #full = false;
  #shared = 0;

  constructor(fn: BulkFunction<Item, Result>, options: BatchOptions<Item>) {
    const { concurrency = 1, key, size, ...queueOptions } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 65_536) {
      throw invalid('concurrency', concurrency, 'an integer from 1 to 65536');
    }
    if (key !== undefined && typeof key !== 'function') throw invalid('key', key, 'a function');
    if (size !== undefined && typeof size !== 'function') throw invalid('size', size, 'a function');
    this.#fn = fn;
    this.#concurrency = concurrency;
    this.#keyOf = key;
    this.#size = size;
    const host = new MicrotaskHost();
    this.#engine = new Engine(host, this, queueOptions);
    host.attach(this.#engine as Engine<never>);
    this.#entry = this.#engine.entry('call');
    this.#entry.pinned = true;
  }

  call(item: Item, options?: CallOptions): Promise<Result> {
    const signal = options?.signal;
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      return Promise.reject(invalid('signal', signal, 'an AbortSignal'));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Result> = {
        resolve,
        reject,
        signal: null,
        onAbort: null,
        settled: false,
      };
      const call = this.#enqueue(item, waiter);
      this.#unsettled.add(waiter);
      if (signal !== undefined && !waiter.settled) this.#watch(signal, call, waiter);
    });
  }

  /** Queues the call, or joins one with the same key. What it throws rejects the caller's promise. */
  #enqueue(item: Item, waiter: Waiter<Result>): Call<Item, Result> {
    const key = this.#keyOf?.(item);
    if (this.#keyOf !== undefined && !this.#engine.closed) {
      const known = this.#byKey.get(key);
      if (known !== undefined) {
        known.waiters.push(waiter);
        this.#shared++;
        return known;
      }
    }
    const bytes = this.#size === undefined ? 0 : checkBytes(this.#size(item));
    const call: Call<Item, Result> = { item, key, waiters: [waiter], event: null, flight: null };
    // Before the push: under `direct` the batch leaves inside it.
    if (this.#keyOf !== undefined) this.#byKey.set(key, call);
    try {
      call.event = this.#engine.push(this.#entry, call, -1, bytes, null);
    } catch (error) {
      if (this.#keyOf !== undefined) this.#byKey.delete(key);
      throw error;
    }
    return call;
  }

  #watch(signal: AbortSignal, call: Call<Item, Result>, waiter: Waiter<Result>): void {
    waiter.signal = signal;
    waiter.onAbort = () => {
      this.#settle(waiter, () => waiter.reject(signal.reason));
      call.waiters.splice(call.waiters.indexOf(waiter), 1);
      if (call.waiters.length > 0) return;
      if (call.flight === null) {
        this.#engine.cancel(call.event!);
        this.#forgetKey(call);
      } else if (--call.flight.waiting === 0) {
        call.flight.aborted = { reason: signal.reason };
        call.flight.abort?.abort(signal.reason);
      }
    };
    signal.addEventListener('abort', waiter.onAbort, { once: true });
  }

  #forgetKey(call: Call<Item, Result>): void {
    if (this.#keyOf !== undefined && this.#byKey.get(call.key) === call)
      this.#byKey.delete(call.key);
  }

  // ---- the engine's sink

  deliver(batch: Batch<Call<Item, Result>>): boolean {
    // Of a batch that was flushed while others were in flight, calls may have been aborted since.
    const calls = batch.events.map((event) => event.data).filter((call) => call.waiters.length > 0);
    if (calls.length === 0) return true;
    const flight: Flight = { waiting: calls.length, abort: null, aborted: null };
    for (const call of calls) {
      call.flight = flight;
      this.#forgetKey(call);
    }
    this.#engine.counters.delivered += calls.length;
    this.#inFlight++;
    this.#start(calls, flight).then(
      (results) => this.#returned(calls, results),
      (error) => this.#failed(calls, error),
    );
    if (this.#engine.options.policy === 'direct') return true;
    this.#full = this.#inFlight >= this.#concurrency;
    return !this.#full;
  }

  async #start(calls: Call<Item, Result>[], flight: Flight): Promise<readonly (Result | Error)[]> {
    const items = calls.map((call) => call.item);
    const results = await this.#fn(items, {
      // Made when asked for: most bulk functions do not look at it.
      get signal() {
        if (flight.abort === null) {
          flight.abort = new AbortController();
          if (flight.aborted !== null) flight.abort.abort(flight.aborted.reason);
        }
        return flight.abort.signal;
      },
    });
    if (Array.isArray(results) && results.length === calls.length) return results;
    const got = Array.isArray(results) ? `${results.length} results` : show(results);
    throw new MillraceError(
      'MILLRACE_E_BAD_RESULT',
      `the bulk function returned ${got} for ${calls.length} items; it must return an array with one result for each, in order`,
    );
  }

  #returned(calls: Call<Item, Result>[], results: readonly (Result | Error)[]): void {
    for (let i = 0; i < calls.length; i++) {
      const result = results[i]!;
      for (const waiter of calls[i]!.waiters) {
        if (result instanceof Error) this.#settle(waiter, () => waiter.reject(result));
        else this.#settle(waiter, () => waiter.resolve(result));
      }
      if (result instanceof Error) this.#engine.counters.errors++;
    }
    this.#landed();
  }

  #failed(calls: Call<Item, Result>[], error: unknown): void {
    this.#engine.counters.errors += calls.length;
    for (const call of calls) {
      for (const waiter of call.waiters) this.#settle(waiter, () => waiter.reject(error));
    }
    this.#landed();
  }

  /** A batch is back: the one that gathered meanwhile may leave. */
  #landed(): void {
    this.#inFlight--;
    if (!this.#full) return;
    this.#full = false;
    this.#engine.delivered();
  }

  discard(event: BatchEvent<Call<Item, Result>>, error: Error): void {
    this.#forgetKey(event.data);
    for (const waiter of event.data.waiters) this.#settle(waiter, () => waiter.reject(error));
  }

  #settle(waiter: Waiter<Result>, how: () => void): void {
    if (waiter.settled) return;
    waiter.settled = true;
    if (waiter.onAbort !== null) waiter.signal!.removeEventListener('abort', waiter.onAbort);
    this.#unsettled.delete(waiter);
    how();
    if (this.#flushes.length === 0) return;
    for (const flush of this.#flushes) {
      if (flush.waiting.delete(waiter) && flush.waiting.size === 0) flush.done();
    }
    this.#flushes = this.#flushes.filter((flush) => flush.waiting.size > 0);
  }

  // ---- what users call

  flush(): Promise<void> {
    this.#engine.flush();
    return this.#settled();
  }

  async close(options: { discard?: boolean } = {}): Promise<void> {
    this.#engine.close(discards(options));
    await this.#settled();
  }

  #settled(): Promise<void> {
    if (this.#unsettled.size === 0) return Promise.resolve();
    return new Promise((done) => {
      this.#flushes.push({ waiting: new Set(this.#unsettled), done });
    });
  }

  stats(): BatchStats {
    return { ...this.#engine.stats(), inFlight: this.#inFlight, shared: this.#shared };
  }
}
