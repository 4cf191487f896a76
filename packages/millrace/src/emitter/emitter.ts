import { captureRejectionSymbol, EventEmitter } from 'node:events';
import { type ContextMode, captureContext, runInContext } from '@millrace/base/context';
import { MillraceError, show } from '@millrace/base/errors';
import { check, parse, parseGiven } from '@millrace/base/options';
import { classOf, type Priority, priorities } from '@millrace/base/priority';
import { announce } from '@millrace/base/sources';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { atTurnEnd, throwLater } from '@millrace/base/turn';
import { Dispatcher, type Handlers, type Loss } from '../engine/dispatch.js';
import { type Batch, checkBytes, Engine } from '../engine/engine.js';
import { TurnHost } from '../engine/host.js';
import { discards, type QueueOptions, queueSchema, retention } from '../engine/options.js';
import { type BatchEvent, type Merge, unlimited } from '../engine/queue.js';
import type { Receiver } from '../engine/retention.js';
import type { QueueStats, Trigger } from '../engine/stats.js';
import {
  type BatchEmitterOptions,
  checkQueued,
  emitterSchema,
  isSynchronous,
  type PushOptions,
  pushSchema,
  type TypeOptions,
  typeSchema,
} from './options.js';

export type { BatchEmitterOptions, PushOptions, TypeOptions } from './options.js';

/** Second argument of a batch handler. */
export interface BatchInfo {
  readonly type: string | symbol;
  readonly trigger: Trigger;
}

/** Names of events and the arguments they carry, as in `EventEmitter<T>`. */
export type EventMap<T> = Record<keyof T, unknown[]>;
type AnyEvents = Record<string | symbol, any[]>;
type Key<T> = (keyof T & (string | symbol)) | 'error' | 'newListener' | 'removeListener';
type Args<T, K> = K extends keyof T ? (T[K] extends unknown[] ? T[K] : unknown[]) : any[];
type Handler<T, K> = (...args: Args<T, K>) => void;
/** Item that a batch handler gets per event: its argument, or the list of its arguments when it has several. */
export type Item<A> = A extends [infer One] ? One : A;

/** Handler for `onBatch`. It gets the items of one batch, in order. */
export type BatchHandler<A> = (items: Item<A>[], info: BatchInfo) => unknown;

/** Pushed event; `cancel()` takes it back while it is queued or retained. */
export interface PushedEvent {
  readonly type: unknown;
  readonly priority: Priority;
  /** Takes the event back. Returns true if it was still queued or retained: no handler will get it; false if it has left. */
  cancel(): boolean;
}

export interface EmitterStats extends QueueStats {
  retained: {
    count: number;
    bytes: number;
    /** Share in use of the fullest type's bound, 0 to 1. */
    fill: number;
    held: number;
    replayed: number;
    expired: number;
    refused: number;
  };
}

const emitNow: (this: EventEmitter, type: string | symbol, ...args: unknown[]) => boolean =
  EventEmitter.prototype.emit;
type Listener = (...args: any[]) => void;
const noType = Symbol('no type');
/**
 * An `EventEmitter` whose events leave in batches: `emit` queues, and the end of the loop turn delivers everything queued in
 * order of priority and arrival. Drop-in for `node:events`; `docs/reference/millrace.md` says what differs.
 *
 * `emit` costs some tens of ns and never runs a listener, except for `'error'`, `'newListener'` and `'removeListener'`, which
 * are synchronous as always, and under the policy `direct`, which makes everything synchronous.
 */
export class BatchEmitter<T extends EventMap<T> = AnyEvents> extends EventEmitter {
  readonly #host = new TurnHost();
  readonly #dispatcher: Dispatcher;
  readonly #engine: Engine;
  readonly #captureRejections: boolean;
  readonly #contextMode: ContextMode;
  readonly #size: BatchEmitterOptions['size'];
  readonly #losses: LossReport;
  readonly #sizes = new Map<string | symbol, (...args: any[]) => number>();
  readonly #batchHandlers = new BatchHandlers();
  /** Under `direct`: the event that ended without a handler last, so that `emit` can say so. */
  #ended: BatchEvent | null = null;
  #expiry: NodeJS.Timeout | null = null;
  /** Policy `direct`, nothing retained, no batch handler, open: `emit` is the platform's own. */
  #plain = false;
  #direct = false;
  /** Events have sizes. */
  #measured = false;
  /** True while there are batch handlers, or a batch is being delivered to some. */
  #batching = false;
  /** True if an event only has to be queued. */
  #queues = false;
  /** Events that were emitted without the engine. */
  #emitted = 0;
  #emittedUnheard = 0;
  /** The type that was emitted so last, which is none of the synchronous ones; `noType` unless `#plain`. */
  #plainType: string | symbol = noType;

  /** Throws MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. */
  constructor(options: BatchEmitterOptions = {}) {
    const { captureRejections, context, size, onLost, isolation, retain, ...queue } = parse(
      'BatchEmitter',
      options,
      emitterSchema,
    );
    super(captureRejections === undefined ? {} : { captureRejections });
    this.#captureRejections = captureRejections ?? EventEmitter.captureRejections;
    this.#contextMode = context;
    this.#size = size;
    this.#measured = size !== undefined;
    this.#losses = new LossReport(onLost);
    this.#dispatcher = new Dispatcher(
      this.#handlers(),
      (deadline) => this.#armExpiry(deadline),
      isolation,
      retain === undefined ? null : retention(retain),
    );
    this.#engine = new Engine(this.#host, this.#dispatcher, queue);
    this.#host.attach(this.#engine);
    this.#dispatcher.attach(this.#engine);
    this.#engine.onApply = () => this.#refreshMode();
    this.#refreshMode();
    announce('emitter', this as unknown as BatchEmitter, statsOf);
  }

  /**
   * Queues the event. Returns true when it is queued or retained (under `direct`: as `EventEmitter` does). Throws
   * MILLRACE_E_OVERLOADED when the queue is full and MILLRACE_E_CLOSED after `close()`; then the event was not taken.
   */
  override emit<K extends Key<T>>(type: K, ...args: Args<T, K>): boolean;
  // Only the count of `arguments` is read, and `more` is only spread: so neither becomes an object.
  override emit(type: string | symbol, first?: unknown, ...more: Arguments): boolean {
    // biome-ignore lint/complexity/noArguments: as said above
    const count = arguments.length;
    if (count !== 2) return count < 2 ? this.#emitList(type) : this.#emitList(type, first, ...more);
    if (type === this.#plainType || (this.#plain && this.#isPlain(type))) {
      this.#emitted++;
      return emitNow.call(this, type, first) || this.#unheard();
    }
    // The path of nearly every event. A type that was seen just now cannot be a synchronous one.
    if (this.#queues && !Array.isArray(first)) {
      const engine = this.#engine;
      const { recent } = engine.queue;
      if (recent !== null && recent.type === type) {
        engine.push(recent, first, -1, 0, captureContext(this.#contextMode));
        return true;
      }
    }
    return this.#emitList(type, first);
  }

  #isPlain(type: string | symbol): boolean {
    if (isSynchronous(type)) return false;
    this.#plainType = type;
    return true;
  }

  #emitList(type: string | symbol, ...args: Arguments): boolean {
    if (isSynchronous(type)) return emitNow.call(this, type, ...args);
    // While a switch to `direct` hands on what was queued before, later events wait for that.
    if (this.#direct && !this.#plain) this.#refreshMode();
    if (this.#plain) return this.#emitPlain(type, args);
    if (this.#direct) return this.#emitDirect(type, args);
    const bytes = this.#measured ? this.#bytes(type, args) : 0;
    const context = captureContext(this.#contextMode);
    this.#engine.push(this.#engine.entry(type), compact(args), -1, bytes, context);
    return true;
  }

  #emitPlain(type: string | symbol, args: Arguments): boolean {
    // Counted before it is emitted: its listeners throw to the caller.
    this.#emitted++;
    return emitNow.call(this, type, ...args) || this.#unheard();
  }

  #unheard(): false {
    this.#emittedUnheard++;
    return false;
  }

  /** `direct` on an emitter that retains, has batch handlers, or is closed. */
  #emitDirect(type: string | symbol, args: Arguments): boolean {
    const special =
      this.#dispatcher.retention.options(type) !== null || this.#batchHandlers.has(type);
    if (!special && !this.#engine.closed && !this.#engine.busy) return this.#emitPlain(type, args);
    const bytes = this.#measured ? this.#bytes(type, args) : 0;
    // A retained event outlives this call, and the context with it.
    const context = captureContext(this.#contextMode);
    const event = this.#engine.push(this.#engine.entry(type), compact(args), -1, bytes, context);
    const lost = this.#ended === event;
    this.#ended = null;
    return !lost;
  }

  /**
   * Queues an event as `emit` does, with a priority, a size and a key for this event, and a handle to cancel it. With a key
   * it takes the place of the queued event of its type and key. `args` is the list of arguments that the handlers get.
   */
  push<K extends keyof T & (string | symbol)>(
    type: K,
    args: Args<T, K>,
    options: PushOptions = {},
  ): PushedEvent {
    if (!Array.isArray(args)) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_ARGUMENT',
        `the arguments of push() are ${show(args)}; they must be an array, as in push('type', [value])`,
      );
    }
    checkQueued(type);
    check('BatchEmitter.push()', options, pushSchema);
    const priority = options.priority === undefined ? -1 : classOf(options.priority);
    const { bytes = this.#bytes(type, args) } = options;
    const context = captureContext(this.#contextMode);
    const entry = this.#engine.entry(type);
    const data = compact(args);
    const event =
      options.key === undefined
        ? this.#engine.push(entry, data, priority, bytes, context)
        : this.#engine.pushKeyed(entry, options.key, data, priority, bytes, context);
    return {
      type,
      priority: priorities[event.priority]!,
      cancel: () => this.#engine.cancel(event) || this.#dispatcher.cancel(event),
    };
  }

  /**
   * Registers a handler that gets all events of a type that are in one batch, in one call, at the place of the first of them.
   * An item is the event's argument, or the list of its arguments when it was emitted with several or none.
   */
  onBatch<K extends keyof T & (string | symbol)>(type: K, handler: BatchHandler<Args<T, K>>): this {
    checkQueued(type);
    this.#batchHandlers.add(type, handler);
    this.#refreshMode();
    this.#dispatcher.registered(type, handler);
    return this;
  }

  /** Removes a batch handler; without `handler`, all of the type's. */
  offBatch<K extends keyof T & (string | symbol)>(
    type: K,
    handler?: BatchHandler<Args<T, K>>,
  ): this {
    this.#batchHandlers.remove(type, handler);
    this.#refreshMode();
    return this;
  }

  /** Sets options of one type. Omitted options stay. Throws MILLRACE_E_INVALID_OPTION. */
  configure<K extends keyof T & (string | symbol)>(type: K, options: TypeOptions): this {
    checkQueued(type);
    const parsed = parseGiven('BatchEmitter.configure()', options, typeSchema);
    const { priority, retain, maxBatch, size, merge } = parsed;
    const entry = this.#engine.entry(type);
    const level = priority === undefined ? entry.priority : classOf(priority);
    const limit = maxBatch === undefined ? entry.maxBatch : Math.min(maxBatch, unlimited);
    const retained = this.#dispatcher.retention;
    const kept =
      retain === undefined ? undefined : retention(retain, retained.options(type) ?? undefined);
    // Everything is checked: from here on nothing throws.
    entry.pinned = true;
    entry.priority = level;
    if (limit !== entry.maxBatch) this.#engine.queue.setMaxBatch(entry, limit);
    if (kept !== undefined) retained.configure(type, kept);
    if (size !== undefined) {
      this.#sizes.set(type, size);
      this.#measured = true;
    }
    if (merge !== undefined) entry.merge = merge === false ? null : this.#merging(type, merge);
    this.#refreshMode();
    return this;
  }

  /** The user's `merge`, for events as the queue has them. */
  #merging(type: string | symbol, merge: (older: unknown, newer: unknown) => unknown): Merge {
    return (older, data, bytes) => {
      const newer = argsOf(data);
      const result = merge(itemOf(argsOf(older.data)), itemOf(newer));
      const args = newer.length === 1 ? [result] : result;
      if (!Array.isArray(args)) {
        throw new MillraceError(
          'MILLRACE_E_INVALID_ARGUMENT',
          `merge of ${show(type)} returned ${show(result)}; for an event of ${newer.length} arguments it must return the list of them`,
        );
      }
      const isMeasured = this.#size !== undefined || this.#sizes.has(type);
      return { data: compact(args), bytes: isMeasured ? this.#bytes(type, args) : bytes };
    };
  }

  /** Changes options of the queue; a new `policy` or `order` first flushes. Throws MILLRACE_E_INVALID_OPTION. */
  set(options: Partial<QueueOptions>): this {
    this.#engine.set(parseGiven('BatchEmitter.set()', options, queueSchema));
    this.#refreshMode();
    return this;
  }

  /** Delivers everything queued, inside this call; in a handler, after the current batch. */
  flush(): void {
    this.#engine.flush();
  }

  /**
   * Delivers the queued events, or discards them and calls `onLost`; later events are refused. Retained events expire.
   * Idempotent. Listeners stay registered.
   */
  close(options: { discard?: boolean } = {}): void {
    this.#engine.close(discards('BatchEmitter.close()', options));
    this.#refreshMode();
  }

  /** Number of queued events, of all types or of one. */
  queued(type?: keyof T & (string | symbol)): number {
    const { queue } = this.#engine;
    return type === undefined ? queue.count : (queue.find(type)?.count ?? 0);
  }

  /** Depths and totals. */
  stats(): EmitterStats {
    const { count, bytes, fill, counters } = this.#dispatcher.retention;
    const stats = this.#engine.stats();
    return {
      ...stats,
      pushed: stats.pushed + this.#emitted,
      delivered: stats.delivered + this.#emitted - this.#emittedUnheard,
      unhandled: stats.unhandled + this.#emittedUnheard,
      retained: { count, bytes, fill, ...counters },
    };
  }

  // ---- registration: what is retained becomes due to a new listener

  override addListener<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override addListener(type: string | symbol, listener: Listener): this {
    super.addListener(type, listener);
    this.#dispatcher.registered(type, listener);
    return this;
  }

  override on<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override on(type: string | symbol, listener: Listener): this {
    // Not by this.addListener: a subclass may have built that on this method.
    super.on(type, listener);
    this.#dispatcher.registered(type, listener);
    return this;
  }

  override prependListener<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override prependListener(type: string | symbol, listener: Listener): this {
    super.prependListener(type, listener);
    this.#dispatcher.registered(type, listener);
    return this;
  }

  // These register by the ones above; they are here for their types.

  override once<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override once(type: string | symbol, listener: Listener): this {
    return super.once(type, listener);
  }

  override prependOnceListener<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override prependOnceListener(type: string | symbol, listener: Listener): this {
    return super.prependOnceListener(type, listener);
  }

  override off<K extends Key<T>>(type: K, listener: Handler<T, K>): this;
  override off(type: string | symbol, listener: Listener): this {
    return super.off(type, listener);
  }

  // ---- dispatch

  #handlers(): Handlers {
    return {
      run: (event, batch, index) => this.#run(event, batch, index),
      replay: (event, receiver) => this.#replay(event, receiver),
      receivers: (type) => [
        ...this.#batchHandlers.of(type as string),
        ...this.rawListeners(type as string),
      ],
      failed: (error) => this.#failed(error),
      lost: (event, why) => {
        this.#losses.tell(event, why);
        if (this.#direct) this.#ended = event;
      },
      macrotask: atTurnEnd,
    };
  }

  #run(event: BatchEvent, batch: Batch, index: number): boolean {
    if (this.#batching) return this.#runWithBatchHandlers(event, batch, index);
    if (event.context === null) return this.#call(event);
    let handled = false;
    runInContext(
      event.context,
      () => {
        handled = this.#call(event);
      },
      undefined,
    );
    return handled;
  }

  #runWithBatchHandlers(event: BatchEvent, batch: Batch, index: number): boolean {
    const type = event.entry.type as string | symbol;
    const group = this.#batchHandlers.group(batch, index);
    if (!this.#batchHandlers.inUse) this.#refreshMode();
    let handled = group !== null;
    runInContext(
      event.context,
      () => {
        if (group !== null && group.length > 0) {
          const rejected = (error: unknown) => this.#rejected(error, event);
          this.#batchHandlers.call(this, type, group, batch.trigger, rejected);
        }
        if (this.#call(event)) handled = true;
      },
      undefined,
    );
    return handled;
  }

  #call(event: BatchEvent): boolean {
    const type = event.entry.type as string;
    const { data } = event;
    if (Array.isArray(data)) return emitNow.call(this, type, ...data);
    return emitNow.call(this, type, data);
  }

  #replay(event: BatchEvent, receiver: Receiver): void {
    const type = event.entry.type as string;
    const args = argsOf(event.data);
    const handler = receiver as Listener;
    const isBatchHandler = this.#batchHandlers.of(type).includes(handler);
    const result: unknown = isBatchHandler
      ? handler.call(this, [itemOf(args)], { type, trigger: 'turn' })
      : handler.apply(this, args);
    if (!isBatchHandler && !this.#captureRejections) return;
    whenRejected(result, (error) => this.#rejected(error, event));
  }

  /** Reports a rejection as node:events reports a captured one. */
  #rejected(error: unknown, event: BatchEvent): void {
    this.#engine.counters.errors++;
    const own = (this as { [captureRejectionSymbol]?: unknown })[captureRejectionSymbol];
    if (typeof own === 'function') own.call(this, error, event.type, ...argsOf(event.data));
    else this.#failed(error);
  }

  /** Throws an uncaught exception, unless there is a listener for 'error'. The rest of the batch goes on first. */
  #failed(error: unknown): void {
    if (this.listenerCount('error') === 0) {
      throwLater(error, atTurnEnd);
      return;
    }
    try {
      super.emit('error', error);
    } catch (second) {
      throwLater(second, atTurnEnd);
    }
  }

  #armExpiry(deadline: number | null): void {
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#expiry = null;
    if (deadline === null) return;
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#dispatcher.retention.deadlineReached(this.#host.now());
      },
      Math.min(2_147_483_647, Math.max(1, Math.ceil(deadline - this.#host.now()))),
    ).unref();
  }

  #bytes(type: string | symbol, args: Arguments): number {
    const own = this.#sizes.get(type);
    if (own !== undefined) return checkBytes(own(...args));
    return this.#size === undefined ? 0 : checkBytes(this.#size(type, args));
  }

  #refreshMode(): void {
    this.#direct = this.#engine.options.policy === 'direct';
    this.#queues = !this.#direct && !this.#measured;
    this.#batching = this.#batchHandlers.inUse;
    this.#plain =
      this.#direct &&
      !this.#dispatcher.retention.used &&
      !this.#batching &&
      !this.#engine.busy &&
      !this.#engine.closed;
    if (!this.#plain) this.#plainType = noType;
  }
}

/** A class derived from it may have a `stats` of its own. */
const statsOf = (emitter: BatchEmitter) => BatchEmitter.prototype.stats.call(emitter);

// ---- losses

/** Names made up as the application runs must not add up, in memory or on the console. */
const mostWarnings = 256;

/** Tells of events that ended without a handler. */
class LossReport {
  readonly #onLost: BatchEmitterOptions['onLost'];
  readonly #warned = new Set<string>();

  /** Warns once per type and code without `onLost`. */
  constructor(onLost: BatchEmitterOptions['onLost']) {
    this.#onLost = onLost;
  }

  /** An event that is merely unhandled is only counted: nobody asked for more. */
  tell(event: BatchEvent, why: Loss): void {
    if (why === 'unhandled') return;
    const type = event.entry.type as string | symbol;
    const error = lossError(type, why);
    if (this.#onLost !== undefined) {
      try {
        this.#onLost(error, type, argsOf(event.data));
      } catch (second) {
        throwLater(second, atTurnEnd);
      }
      return;
    }
    const key = `${String(type)} ${error.code}`;
    if (this.#warned.has(key) || this.#warned.size >= mostWarnings) return;
    this.#warned.add(key);
    process.emitWarning(`${error.message} (further ones are counted in stats())`, {
      type: 'MillraceWarning',
      code: error.code,
    });
  }
}

function lossError(type: string | symbol, why: Exclude<Loss, 'unhandled'>): MillraceError {
  const name = show(type);
  switch (why) {
    case 'retention':
      return new MillraceError(
        'MILLRACE_E_RETENTION',
        `an event ${name} had no listener and did not fit into retain.max or retain.maxBytes; raise them or register earlier`,
      );
    case 'cancelled':
      return new MillraceError(
        'MILLRACE_E_CANCELLED',
        `an event ${name} was discarded by close({ discard: true }); without discard it would have been delivered`,
      );
    default: {
      const reasons = {
        age: 'retain.maxAge was reached; raise it or register earlier',
        close: 'the emitter was closed; register before close()',
        off: 'its retention was turned off; register before that',
      };
      return new MillraceError(
        'MILLRACE_E_EXPIRED',
        `an event ${name} ended without a listener: ${reasons[why]}`,
      );
    }
  }
}

type Type = string | symbol;
type TypeHandler = (items: any[], info: BatchInfo) => unknown;
const noHandlers: readonly TypeHandler[] = [];
const noEvents: BatchEvent[] = [];

/** Handlers that get all events of a type which are in one batch at once. */
class BatchHandlers {
  readonly #byType = new Map<Type, readonly TypeHandler[]>();
  /** The batch whose events are being grouped, and the types whose groups have been handed out. */
  #batch: Batch | null = null;
  readonly #grouped = new Set<Type>();

  /** True while there are handlers, or a batch is being delivered to some. */
  get inUse(): boolean {
    return this.#byType.size > 0 || this.#batch !== null;
  }

  has(type: Type): boolean {
    return this.#byType.has(type);
  }

  of(type: Type): readonly TypeHandler[] {
    return this.#byType.get(type) ?? noHandlers;
  }

  add(type: Type, handler: unknown): void {
    checkHandler(handler);
    this.#byType.set(type, [...this.of(type), handler]);
  }

  /** Removes a handler, the one that was added last if it is there twice; without one, all of the type's. */
  remove(type: Type, handler: unknown): void {
    if (handler !== undefined) checkHandler(handler);
    const at = this.of(type).lastIndexOf(handler as TypeHandler);
    const left = handler === undefined ? [] : this.of(type).filter((_, i) => i !== at);
    if (left.length > 0) this.#byType.set(type, left);
    else this.#byType.delete(type);
  }

  /**
   * The events of the batch that the type's handlers get at this one's turn: all of them at the first one's, none at the
   * others'; null when there is no handler. Called for each event of a batch, in order.
   */
  group(batch: Batch, index: number): BatchEvent[] | null {
    const type = batch.events[index]!.entry.type as Type;
    if (this.#batch !== batch) {
      this.#batch = batch;
      this.#grouped.clear();
    }
    const group = this.#groupOf(type, batch, index);
    // The last event of a batch is the end of its groups: nothing of it is kept.
    if (index === batch.events.length - 1) this.#batch = null;
    return group;
  }

  #groupOf(type: Type, batch: Batch, index: number): BatchEvent[] | null {
    // The first one's group took all that follow it, even if its handler has been removed since.
    if (this.#grouped.has(type)) return noEvents;
    if (!this.has(type)) return null;
    this.#grouped.add(type);
    return batch.events.slice(index).filter((event) => event.entry.type === type);
  }

  /** Calls the type's handlers with the events; `rejected` hears of a promise that they return and that fails. */
  call(
    emitter: object,
    type: Type,
    events: BatchEvent[],
    trigger: Trigger,
    rejected: (error: unknown) => void,
  ): void {
    const items = events.map((event) => itemOf(argsOf(event.data)));
    for (const handler of this.of(type)) {
      whenRejected(handler.call(emitter, items, { type, trigger }), rejected);
    }
  }
}

/** Hears of a promise that fails; anything else is let be. */
function whenRejected(result: unknown, rejected: (error: unknown) => void): void {
  const promise = result as PromiseLike<unknown> | null | undefined;
  if (typeof promise?.then === 'function') promise.then(undefined, rejected);
}

function checkHandler(handler: unknown): asserts handler is TypeHandler {
  if (typeof handler === 'function') return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `a batch handler must be a function, not ${show(handler)}`,
  );
}

/** The arguments of an event. */
type Arguments = unknown[];

/** An event's data is its argument if it has one that is no array, else the list of its arguments: most need no list. */
function compact(args: Arguments): unknown {
  return args.length === 1 && !Array.isArray(args[0]) ? args[0] : args;
}

/** The list again. */
function argsOf(data: unknown): Arguments {
  return Array.isArray(data) ? data : [data];
}

/** Returns the item of an event for a batch handler. */
function itemOf(args: Arguments): unknown {
  return args.length === 1 ? args[0] : args;
}
