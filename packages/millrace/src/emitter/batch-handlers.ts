/** Handlers that get all events of a type which are in one batch at once. */

import { MillraceError, show } from '@millrace/base/errors';
import type { Batch } from '../engine/engine.js';
import type { BatchEvent } from '../engine/queue.js';
import type { Trigger } from '../engine/stats.js';

/** What comes with the items of a batch handler. */
export interface BatchInfo {
  readonly type: string | symbol;
  readonly trigger: Trigger;
}

type Type = string | symbol;
type Handler = (items: any[], info: BatchInfo) => unknown;
const noHandlers: readonly Handler[] = [];
const noEvents: BatchEvent[] = [];

export class BatchHandlers {
  readonly #byType = new Map<Type, readonly Handler[]>();
  /** The batch whose events are being grouped, and the types whose groups have been handed out. */
  #batch: Batch | null = null;
  readonly #grouped = new Set<Type>();

  /** There are handlers, or a batch that some are getting. */
  get inUse(): boolean {
    return this.#byType.size > 0 || this.#batch !== null;
  }

  has(type: Type): boolean {
    return this.#byType.has(type);
  }

  of(type: Type): readonly Handler[] {
    return this.#byType.get(type) ?? noHandlers;
  }

  add(type: Type, handler: unknown): void {
    checkHandler(handler);
    this.#byType.set(type, [...this.of(type), handler]);
  }

  /** Removes a handler, the one that was added last if it is there twice; without one, all of the type's. */
  remove(type: Type, handler: unknown): void {
    if (handler !== undefined) checkHandler(handler);
    const at = this.of(type).lastIndexOf(handler as Handler);
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
export function whenRejected(result: unknown, rejected: (error: unknown) => void): void {
  const promise = result as PromiseLike<unknown> | null | undefined;
  if (typeof promise?.then === 'function') promise.then(undefined, rejected);
}

function checkHandler(handler: unknown): asserts handler is Handler {
  if (typeof handler === 'function') return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `a batch handler must be a function, not ${show(handler)}`,
  );
}

/** The arguments of an event. */
export type Arguments = unknown[];

/** An event's data is its argument if it has one that is no array, else the list of its arguments: most need no list. */
export function compact(args: Arguments): unknown {
  return args.length === 1 && !Array.isArray(args[0]) ? args[0] : args;
}

/** The list again. */
export function argsOf(data: unknown): Arguments {
  return Array.isArray(data) ? data : [data];
}

/** What a batch handler gets for an event. */
export function itemOf(args: Arguments): unknown {
  return args.length === 1 ? args[0] : args;
}
