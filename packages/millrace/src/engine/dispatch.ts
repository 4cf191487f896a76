/**
 * The sink that hands the events of a batch to handlers, one after the other: it looks handlers up when an event's turn comes, lets a
 * failure concern its event alone, retains or counts what nobody handles, and replays what was retained. With isolation `batch` one
 * `try` serves all events until a handler fails; with `event` each event starts in a macrotask of its own, and the engine learns at the
 * end that the batch is over.
 */

import { runInContext } from '@millrace/base/context';
import type { Batch, Engine, Sink } from './engine.js';
import type { RetainOptions } from './options.js';
import type { BatchEvent } from './queue.js';
import { type Receiver, Retention } from './retention.js';

/** The handlers of a front end. */
export interface Handlers {
  /** Runs the event's handlers; false if there are none. `index` is its place in the batch. May throw: the first failure ends the event. */
  run(event: BatchEvent, batch: Batch, index: number): boolean;
  /** Gives a replayed event to one handler. May throw. */
  replay(event: BatchEvent, receiver: Receiver): void;
  /** The type's handlers. */
  receivers(type: unknown): readonly Receiver[];
  /** A handler failed for the event. Must not throw. */
  failed(error: unknown, event: BatchEvent): void;
  /** The event ended without having been handled, and why. Must not throw. */
  lost(event: BatchEvent, why: Loss): void;
  /** Runs `fn` when it is a new macrotask. Used only with isolation `event`. */
  macrotask(fn: () => void): void;
}

/** Ways in which an event can end without a handler. */
export type Loss = 'unhandled' | 'retention' | 'age' | 'close' | 'off' | 'cancelled';

/** `batch`: a batch's events follow one another directly; `event`: each starts in a new macrotask. */
export type Isolation = 'batch' | 'event';

/** Told about each step; for tests and observers. */
interface Observer {
  batch?(batch: Batch): void;
  held?(event: BatchEvent): void;
  replayed?(event: BatchEvent): void;
}

export class Dispatcher implements Sink {
  readonly #handlers: Handlers;
  readonly retention: Retention;
  readonly #isolation: Isolation;
  /** Events of the running batch that no handler got. */
  #orphans = 0;
  #engine!: Engine;
  observer: Observer = {};

  constructor(
    handlers: Handlers,
    onDeadline: (deadlineMs: number | null) => void,
    isolation: Isolation = 'batch',
    retain: RetainOptions | null = null,
  ) {
    this.#handlers = handlers;
    this.#isolation = isolation;
    this.retention = new Retention(
      (event, reason) => handlers.lost(event, reason),
      onDeadline,
      retain,
    );
  }

  /** The engine is made with its sink, so it is made known here afterwards. */
  attach(engine: Engine): void {
    this.#engine = engine;
  }

  prepare(now: number): void {
    if (!this.retention.used) return;
    this.retention.expire(now);
    if (!this.retention.anyDue) return;
    const due = this.retention.dueTypes((type) => this.#handlers.receivers(type));
    for (const type of due) this.#replay(type);
  }

  deliver(batch: Batch): boolean {
    this.observer.batch?.(batch);
    if (this.#isolation === 'event' && !this.#isDirect) {
      this.#deliverOne(batch, 0);
      return false;
    }
    this.#deliverFrom(batch);
    return true;
  }

  get #isDirect(): boolean {
    return this.#engine.options.policy === 'direct';
  }

  /** Delivers many events in one try, which is entered again only after a failure. */
  #deliverFrom(batch: Batch): void {
    const { events } = batch;
    let i = 0;
    while (i < events.length) {
      try {
        for (; i < events.length; i++) this.#handle(events[i]!, batch, i);
      } catch (error) {
        this.failed(error, events[i]!);
        i++;
      }
    }
    this.#engine.counters.delivered += events.length - this.#orphans;
    this.#orphans = 0;
  }

  /** The event alone, then the next in a macrotask of its own, so that ticks and promise jobs run between them. */
  #deliverOne(batch: Batch, i: number): void {
    const event = batch.events[i]!;
    try {
      this.#handle(event, batch, i);
    } catch (error) {
      this.failed(error, event);
    }
    this.#engine.counters.delivered += 1 - this.#orphans;
    this.#orphans = 0;
    const next = i + 1;
    // After the last one too: what leaves next starts in a macrotask of its own.
    this.#handlers.macrotask(() => {
      if (next < batch.events.length) this.#deliverOne(batch, next);
      else this.#engine.delivered();
    });
  }

  #handle(event: BatchEvent, batch: Batch, index: number): void {
    const { type } = event.entry;
    // Again when a replay has registered another handler: it gets what is kept before this event, too.
    while (this.retention.anyDue && this.retention.isDue(type)) this.#replay(type);
    if (!this.#handlers.run(event, batch, index)) this.#orphan(event);
  }

  /** Retains an event without a handler if its type retains, else ends it. */
  #orphan(event: BatchEvent): void {
    const { counters } = this.#engine;
    this.#orphans++;
    if (this.retention.options(event.entry.type) === null) {
      counters.unhandled++;
      this.#handlers.lost(event, 'unhandled');
      return;
    }
    // The time of leaving would make an age that a long batch has already eaten into.
    if (this.retention.keep(event, this.#engine.now())) {
      this.observer.held?.(event);
      return;
    }
    counters.refused.retention++;
    this.#handlers.lost(event, 'retention');
  }

  #replay(type: unknown): void {
    const handlers = this.#handlers;
    this.retention.replay(
      type,
      () => handlers.receivers(type),
      (event, receiver) => {
        this.observer.replayed?.(event);
        try {
          runInContext(event.context, () => handlers.replay(event, receiver), undefined);
          return true;
        } catch (error) {
          this.failed(error, event);
          return false;
        }
      },
    );
  }

  failed(error: unknown, event: BatchEvent): void {
    this.#engine.counters.errors++;
    this.#handlers.failed(error, event);
  }

  /** A handler has registered for the type: what is retained becomes due to it at the next dispatch point. */
  registered(type: unknown, receiver: Receiver): void {
    const receivers = () => this.#handlers.receivers(type);
    if (this.retention.register(type, receiver, receivers)) this.#engine.wake();
  }

  /** Takes back a retained event; false if it is not retained. */
  cancel(event: BatchEvent): boolean {
    if (!this.retention.cancel(event)) return false;
    this.#engine.counters.cancelled++;
    return true;
  }

  discard(event: BatchEvent): void {
    this.#handlers.lost(event, 'cancelled');
  }

  end(): void {
    this.retention.close();
  }
}
