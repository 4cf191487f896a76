/**
 * `batch(fn)`: groups calls of a bulk function. Each call is an event of an engine whose sink calls the function; the engine waits while
 * `concurrency` batches are in flight, and calls gather meanwhile.
 *
 * A call is queued, then in flight, then settled. Calls with the same key share the item of the first of them, their leader, until it
 * leaves. A call whose signal aborts settles at once: the last one to leave an item takes it out of the queue, and the last one to leave
 * a batch in flight aborts the batch's own signal. `flush()` and `close()` wait for all that was pushed before them.
 */

import { MillraceError, show } from '@millrace/base/errors';
import { parse, refused } from '@millrace/base/options';
import { isAbortSignal, isError } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import { type Batch, checkBytes, Engine, type Sink } from './engine/engine.js';
import { MicrotaskHost } from './engine/host.js';
import { discards, orderedFields, type QueueOptions } from './engine/options.js';
import type { BatchEvent } from './engine/queue.js';
import type { QueueStats } from './engine/stats.js';

/** Second argument of the bulk function. */
export interface BatchContext {
  /** Signal that is aborted when every call of this batch has been aborted, so that no caller waits for the results. */
  readonly signal: AbortSignal;
}

/**
 * Bulk function. It gets the items of a batch and returns one result per item, in the same order; an `Error` among them fails
 * that call alone. If it throws or rejects, every call of the batch fails with that error.
 */
export type BulkFunction<Item, Result> = (
  items: Item[],
  context: BatchContext,
) => PromiseLike<readonly (Result | Error)[]> | readonly (Result | Error)[];

/** Options of `batch()`. */
export interface BatchOptions<Item> extends Partial<Omit<QueueOptions, 'order'>> {
  /** Batches that may be in flight at once: 1 to 65,536, default 1. At the limit, calls queue. */
  concurrency?: number;
  /**
   * Identity of an item: calls with the same key in one batch share one item and its result. Compared as Map keys are.
   * Default: no sharing.
   */
  key?: (item: Item) => unknown;
  /** Bytes of an item, for `maxQueueBytes`. Default: 0. */
  size?: (item: Item) => number;
}

/** Options of one call of a batched function. */
export interface CallOptions {
  /**
   * Signal to abort this call, which then rejects with the signal's reason; its item is removed from a batch that has not
   * left. Default: none.
   */
  signal?: AbortSignal;
}

export interface BatchStats extends QueueStats {
  /** Batches in flight now. */
  inFlight: number;
  /** Calls that shared another call's item. */
  shared: number;
}

/** Batched function of one item. */
export interface Batched<Item, Result> {
  /**
   * Resolves to the item's result. Rejects with its error, with MILLRACE_E_OVERLOADED when the queue is full, with
   * MILLRACE_E_CLOSED after `close()`, or with the signal's reason.
   */
  (item: Item, options?: CallOptions): Promise<Result>;
  /** Sends the queued calls as soon as `concurrency` allows; resolves when all calls made so far have settled. */
  flush(): Promise<void>;
  /** Refuses later calls; sends the queued calls, or with `discard` rejects them; resolves when all calls have settled. */
  close(options?: { discard?: boolean }): Promise<void>;
  stats(): BatchStats;
}

export const batchSchema = is.schema({
  ...orderedFields,
  concurrency: is.integer(1, 65_536, 1),
  key: is.callback(),
  size: is.callback(),
} satisfies is.FieldsOf<BatchOptions<any>>);

/**
 * Groups calls of a bulk function: the calls of one tick leave together, and while a batch is in flight later calls queue for
 * the next. A lone call leaves at the end of its tick: no call waits longer unless `maxDelay` is set.
 *
 * The dispatch point is the end of the microtask queue. Costs a promise and a queue entry per call. Throws
 * MILLRACE_E_INVALID_OPTION or MILLRACE_E_INVALID_ARGUMENT.
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
  const batcher = new Batcher(fn, parse('batch()', options, batchSchema));
  return Object.assign((item: Item, callOptions?: CallOptions) => batcher.call(item, callOptions), {
    flush: () => batcher.flush(),
    close: (closeOptions?: { discard?: boolean }) => batcher.close(closeOptions),
    stats: () => batcher.stats(),
  });
}

/** Call of a batched function: its item, and the way back to the caller. Small, since there is one for each call. */
class Call<Item, Result> {
  readonly item: Item;
  /** Of its promise, which sets them as it is made. */
  resolve!: (result: Result) => void;
  reject!: (error: unknown) => void;
  /** Bookkeeping of a call with a key or a signal; null for all others. */
  tracking: Tracking<Item, Result> | null = null;

  constructor(item: Item) {
    this.item = item;
  }
}

/** A batch in flight. */
interface Flight {
  /** Items that somebody still waits for. */
  waiting: number;
  abort: AbortController | null;
  /** Set when no caller waits any more: the reason of the last one to abort. */
  aborted: { reason: unknown } | null;
}

/** Bookkeeping of a call with a key or a signal: the calls that share its item, and whether it has settled before them. */
interface Tracking<Item, Result> {
  readonly key: unknown;
  /** The call whose item stands for this one too, because their keys are the same; mostly itself. */
  leader: Call<Item, Result>;
  /** True once its promise has settled: by its signal, before its item's result came. */
  settled: boolean;
  /** Listener on its signal. */
  watch: { readonly signal: AbortSignal; readonly onAbort: () => void } | null;
  /** Calls that share the item of a leader, and the number of all these that still wait for it. */
  sharers: Call<Item, Result>[];
  waiting: number;
  /** Place of a leader in the queue, and the batch it is in once it has left. */
  event: BatchEvent | null;
  flight: Flight | null;
}

/** The call's tracking, made when it is first needed. */
function tracked<Item, Result>(call: Call<Item, Result>, key?: unknown): Tracking<Item, Result> {
  call.tracking ??= {
    key,
    leader: call,
    settled: false,
    watch: null,
    sharers: [],
    waiting: 1,
    event: null,
    flight: null,
  };
  return call.tracking;
}

/**
 * Listens to abort signals, once to each however many calls share it: a signal that lives as long as a request or a
 * process would otherwise collect a listener for each call, and Node.js would warn of a leak.
 */
class Signals {
  readonly #watched = new WeakMap<AbortSignal, Set<() => void>>();

  /** Calls `onAbort` when the signal aborts, unless it is forgotten before. */
  watch(signal: AbortSignal, onAbort: () => void): void {
    const known = this.#watched.get(signal);
    if (known !== undefined) {
      known.add(onAbort);
      return;
    }
    const callbacks = new Set([onAbort]);
    this.#watched.set(signal, callbacks);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  forget(signal: AbortSignal, onAbort: () => void): void {
    const callbacks = this.#watched.get(signal);
    if (callbacks === undefined) return;
    callbacks.delete(onAbort);
    if (callbacks.size > 0) return;
    this.#watched.delete(signal);
    signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (event: Event): void => {
    const signal = event.target as AbortSignal;
    const callbacks = this.#watched.get(signal);
    this.#watched.delete(signal);
    for (const onAbort of callbacks ?? []) onAbort();
  };
}

const many = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

type Queued<Item, Result> = BatchEvent<Call<Item, Result>>;

/** A flush or close that waits for what was pushed before it. */
interface Barrier {
  /** Arrival number of the last such item, and how many of them are not done. */
  readonly upTo: number;
  remaining: number;
  readonly done: () => void;
}

const isTracked = (event: Queued<unknown, never>) => event.data.tracking !== null;
const itemOf = <Item>(event: Queued<Item, never>) => event.data.item;

class Batcher<Item, Result> implements Sink<Call<Item, Result>> {
  readonly #fn: BulkFunction<Item, Result>;
  readonly #concurrency: number;
  readonly #keyOf: ((item: Item) => unknown) | undefined;
  readonly #size: ((item: Item) => number) | undefined;
  readonly #engine: Engine<Call<Item, Result>>;
  /** Entry of all calls: the queue's map needs one type. */
  readonly #entry;
  /** Queued calls by key. */
  readonly #byKey = new Map<unknown, Call<Item, Result>>();
  readonly #signals = new Signals();
  #barriers: Barrier[] = [];
  /** Items that were pushed and are not done. */
  #undone = 0;
  #inFlight = 0;
  /** The engine waits for a batch to return. */
  #full = false;
  #shared = 0;
  /** Queued calls that share another one's item: they wait as it does, and count as it does. */
  #sharing = 0;

  constructor(fn: BulkFunction<Item, Result>, options: is.Parsed<typeof batchSchema.fields>) {
    const { concurrency, key, size, ...queueOptions } = options;
    this.#fn = fn;
    this.#concurrency = concurrency;
    this.#keyOf = key;
    this.#size = size;
    const host = new MicrotaskHost();
    this.#engine = new Engine(host, this, queueOptions);
    host.attach(this.#engine);
    this.#entry = this.#engine.entry('call');
    this.#entry.pinned = true;
    announce('batch', this as Batcher<Item, Result>, (each) => each.stats());
  }

  call(item: Item, options?: CallOptions): Promise<Result> {
    const signal = options?.signal;
    if (signal !== undefined) {
      if (!isAbortSignal(signal)) {
        return Promise.reject(refused('batch()', 'signal', signal, 'an AbortSignal'));
      }
      if (signal.aborted) return Promise.reject(signal.reason);
    }
    const call = new Call<Item, Result>(item);
    // The compiler makes no closure of this: it is inlined.
    const promise = new Promise<Result>((resolve, reject) => {
      call.resolve = resolve;
      call.reject = reject;
    });
    try {
      if (this.#keyOf !== undefined) this.#enqueueKeyed(call, this.#keyOf(item));
      else this.#push(call, signal !== undefined);
    } catch (error) {
      call.reject(error);
      return promise;
    }
    if (signal !== undefined) this.#watch(call, signal);
    return promise;
  }

  /** Queues the call, unless one with the same key is queued: then it shares that one's item. */
  #enqueueKeyed(call: Call<Item, Result>, key: unknown): void {
    const leader = this.#engine.closed ? undefined : this.#byKey.get(key);
    const tracking = tracked(call, key);
    if (leader !== undefined) {
      this.#admitSharer();
      leader.tracking!.sharers.push(call);
      leader.tracking!.waiting++;
      tracking.leader = leader;
      this.#shared++;
      this.#sharing++;
      return;
    }
    // Before the push: under `direct` the batch leaves inside it.
    this.#byKey.set(key, call);
    try {
      this.#push(call, true);
    } catch (error) {
      this.#forgetKey(call);
      throw error;
    }
  }

  #push(call: Call<Item, Result>, needsTracking: boolean): void {
    const bytes = this.#size === undefined ? 0 : checkBytes(this.#size(call.item));
    if (needsTracking) tracked(call);
    this.#undone++;
    try {
      const event = this.#engine.push(this.#entry, call, -1, bytes, null);
      if (call.tracking !== null) call.tracking.event = event;
    } catch (error) {
      this.#undone--;
      throw error;
    }
  }

  #watch(call: Call<Item, Result>, signal: AbortSignal): void {
    const tracking = tracked(call);
    const onAbort = () => {
      tracking.settled = true;
      call.reject(signal.reason);
      const leader = tracking.leader.tracking!;
      if (--leader.waiting > 0) return;
      if (leader.flight !== null) {
        if (--leader.flight.waiting > 0) return;
        leader.flight.aborted = { reason: signal.reason };
        leader.flight.abort?.abort(signal.reason);
        return;
      }
      this.#forgetKey(tracking.leader);
      // Cut by a flush already, it is left out when its batch leaves.
      if (this.#engine.cancel(leader.event!)) this.#done([leader.event!]);
    };
    tracking.watch = { signal, onAbort };
    this.#signals.watch(signal, onAbort);
  }

  #forgetKey(call: Call<Item, Result>): void {
    if (this.#keyOf === undefined || this.#byKey.get(call.tracking!.key) !== call) return;
    this.#byKey.delete(call.tracking!.key);
    this.#sharing -= call.tracking!.sharers.length;
  }

  /** Calls that share an item take no place in the queue, but memory: as many of them may wait as items. */
  #admitSharer(): void {
    const { options, counters } = this.#engine;
    if (this.#sharing < options.maxQueue) return;
    counters.refused.overloaded++;
    throw new MillraceError(
      'MILLRACE_E_OVERLOADED',
      `${this.#sharing} calls wait that share an item, and maxQueue is ${options.maxQueue}; retry later, call less, or raise the bound`,
    );
  }

  // ---- the engine's sink

  deliver(batch: Batch<Call<Item, Result>>): boolean {
    const flight: Flight = { waiting: 0, abort: null, aborted: null };
    const events = batch.events.some(isTracked)
      ? batch.events.filter((event) => this.#leaves(event, flight))
      : batch.events;
    if (events.length === 0) return true;
    flight.waiting = events.length;
    this.#engine.counters.delivered += events.length;
    this.#inFlight++;
    this.#start(events.map(itemOf), flight).then(
      (results) => this.#returned(events, results),
      (error) => this.#failed(events, error),
    );
    if (this.#engine.options.policy === 'direct') return true;
    this.#full = this.#inFlight >= this.#concurrency;
    return !this.#full;
  }

  /** False when nobody waits for the item any more. */
  #leaves(event: Queued<Item, Result>, flight: Flight): boolean {
    const { tracking } = event.data;
    if (tracking === null) return true;
    this.#forgetKey(event.data);
    if (tracking.waiting === 0) {
      this.#done([event]);
      return false;
    }
    tracking.flight = flight;
    return true;
  }

  async #start(items: Item[], flight: Flight): Promise<readonly (Result | Error)[]> {
    const count = items.length;
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
    if (Array.isArray(results) && results.length === count) return results;
    const got = Array.isArray(results) ? many(results.length, 'result') : show(results);
    throw new MillraceError(
      'MILLRACE_E_BAD_RESULT',
      `the bulk function returned ${got} for ${many(count, 'item')}; it must return an array with one result for each, in order`,
    );
  }

  #returned(events: Queued<Item, Result>[], results: readonly (Result | Error)[]): void {
    let i = 0;
    try {
      for (; i < events.length; i++) this.#settle(events[i]!.data, results[i]!);
    } catch (error) {
      // Reading the result threw: an array of the caller's own making.
      for (; i < events.length; i++) this.#settle(events[i]!.data, error as Error);
    }
    this.#done(events);
    this.#landed();
  }

  #settle(call: Call<Item, Result>, result: Result | Error): void {
    if (isError(result)) {
      this.#engine.counters.errors++;
      this.#reject(call, result);
    } else if (call.tracking === null) call.resolve(result);
    else for (const each of this.#waiting(call)) each.resolve(result);
  }

  #failed(events: Queued<Item, Result>[], error: unknown): void {
    this.#engine.counters.errors += events.length;
    for (const { data } of events) this.#reject(data, error);
    this.#done(events);
    this.#landed();
  }

  /** A batch is back: the one that gathered meanwhile may leave. */
  #landed(): void {
    this.#inFlight--;
    if (!this.#full) return;
    this.#full = false;
    this.#engine.delivered();
  }

  discard(event: Queued<Item, Result>, error: Error): void {
    this.#forgetKey(event.data);
    this.#reject(event.data, error);
    this.#done([event]);
  }

  // ---- settling

  #reject(call: Call<Item, Result>, error: unknown): void {
    if (call.tracking === null) call.reject(error);
    else for (const each of this.#waiting(call)) each.reject(error);
  }

  /** The calls for a leader's item that have not settled; their signals are let go. */
  #waiting(leader: Call<Item, Result>): Call<Item, Result>[] {
    const calls = [leader, ...leader.tracking!.sharers].filter((call) => !call.tracking!.settled);
    for (const { tracking } of calls) {
      tracking!.settled = true;
      if (tracking!.watch !== null)
        this.#signals.forget(tracking!.watch.signal, tracking!.watch.onAbort);
    }
    return calls;
  }

  /** Items are done: every call for them has settled. */
  #done(events: BatchEvent[]): void {
    this.#undone -= events.length;
    if (this.#barriers.length === 0) return;
    for (const barrier of this.#barriers) {
      for (const { seq } of events) {
        if (seq <= barrier.upTo && --barrier.remaining === 0) barrier.done();
      }
    }
    this.#barriers = this.#barriers.filter((barrier) => barrier.remaining > 0);
  }

  // ---- what users call

  flush(): Promise<void> {
    this.#engine.flush();
    return this.#allDone();
  }

  async close(options: { discard?: boolean } = {}): Promise<void> {
    this.#engine.close(discards('close()', options));
    await this.#allDone();
  }

  #allDone(): Promise<void> {
    if (this.#undone === 0) return Promise.resolve();
    return new Promise((done) => {
      this.#barriers.push({ upTo: this.#engine.lastSeq, remaining: this.#undone, done });
    });
  }

  stats(): BatchStats {
    return { ...this.#engine.stats(), inFlight: this.#inFlight, shared: this.#shared };
  }
}
