/** The options of a BatchEmitter, of a type and of a push, and which types are never queued. */
import { errorMonitor } from 'node:events';
import type { ContextMode } from '@millrace/base/context';
import { MillraceError, show } from '@millrace/base/errors';
import { type Priority, priorityField as priority } from '@millrace/base/priority';
import * as is from '@millrace/base/schema';
import type { Isolation } from '../engine/dispatch.js';
import {
  type QueueOptions,
  queueFields,
  type RetainOptions,
  retainField,
} from '../engine/options.js';

/** Options of a {@link BatchEmitter}: those of its queue, and these. */
export interface BatchEmitterOptions extends Partial<QueueOptions> {
  /** Retention of types without a setting of their own. Default: off. */
  retain?: boolean | Partial<RetainOptions>;
  /**
   * Isolation of handlers. `batch` (default): a batch's events follow one another directly, and ticks and promise jobs run
   * after the last. `event`: each event starts in a new macrotask, so that ticks and promise jobs run in between; costs a
   * macrotask per event.
   */
  isolation?: Isolation;
  /** Lets handlers see the AsyncLocalStorage values of the push: `auto` (default, once any is in use), `on`, `off`. */
  context?: ContextMode;
  /** Bytes of an event, for `maxQueueBytes` and retention. Default: 0 bytes. A type's own `size` comes first. */
  size?: (type: string | symbol, args: unknown[]) => number;
  /**
   * Called for each accepted event that ended without a handler, by a bound or a close: code MILLRACE_E_RETENTION,
   * MILLRACE_E_EXPIRED or MILLRACE_E_CANCELLED. Default: a process warning, once for each type and code.
   */
  onLost?: (error: MillraceError, type: string | symbol, args: unknown[]) => void;
  /** Reports rejections of a listener's promise, as `EventEmitter` does. Default: `EventEmitter.captureRejections`. */
  captureRejections?: boolean;
}

/** Options of one type of event. */
export interface TypeOptions {
  /** Class of the type's events. Default: by the type's name, see `docs/reference/millrace.md`. */
  priority?: Priority;
  /** Keeps events without a handler for one that registers later. Default: the emitter's setting. */
  retain?: boolean | Partial<RetainOptions>;
  /** Events of this type a batch can hold: 1 to 1,000,000; default: no limit of its own. */
  maxBatch?: number;
  /** Bytes of an event of this type. Default: the emitter's `size`. */
  size?: (...args: any[]) => number;
  /**
   * Merges the data of a queued event with that of a newer one of its key. It gets and returns an event's argument, or the
   * list of its arguments if the newer one has several or none. If it throws, both events stay, and the error is reported
   * like a listener's. `false` (default): the newer event replaces the older one.
   */
  merge?: Merging | false;
}

/** The option `merge` of a type. */
type Merging = (older: any, newer: any) => unknown;

/** Options of `BatchEmitter.push()`. */
export interface PushOptions {
  /** Priority of the event; default: that of its type. */
  priority?: Priority;
  /** Size in bytes: 0 to 2^53 - 1; default: the result of the size function. */
  bytes?: number;
  /**
   * Key of the event: any value but undefined, compared as in a Map. It takes the place of a queued event of its type and
   * key, which is counted as `superseded`. Default: none.
   */
  key?: unknown;
}

export const emitterSchema = is.schema({
  ...queueFields,
  retain: retainField,
  isolation: is.choice(['batch', 'event'], 'batch'),
  context: is.choice(['auto', 'on', 'off'], 'auto'),
  size: is.callback(),
  onLost: is.callback(),
  captureRejections: is.boolean(),
} satisfies is.FieldsOf<BatchEmitterOptions>);

export const typeSchema = is.schema({
  priority,
  retain: retainField,
  maxBatch: is.either(queueFields.maxBatch, is.choice([Number.POSITIVE_INFINITY])),
  size: is.callback(),
  merge: is.either(is.callback<Merging>(), is.choice([false])),
} satisfies is.FieldsOf<TypeOptions>);

export const pushSchema = is.schema({
  priority,
  bytes: is.bytes(0, Number.MAX_SAFE_INTEGER),
  key: is.anything(),
} satisfies is.FieldsOf<PushOptions>);

/** Events of these types run their listeners inside `emit`, whatever the policy: code relies on that. */
export function isSynchronous(type: unknown): boolean {
  return (
    type === 'error' || type === 'newListener' || type === 'removeListener' || type === errorMonitor
  );
}

/** Refuses a type whose events are never queued where only queued ones have a meaning. */
export function checkQueued(type: unknown): void {
  if (!isSynchronous(type)) return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${show(type)} is always synchronous: it is never queued; use emit() and on()`,
  );
}
