/**
 * Values that are moved to the other thread, not copied. The symbols are those of piscina, by their registered names, so
 * that classes which were written for it work here.
 */
import type { Transferable as TransferItem } from 'node:worker_threads';
import { builtin } from './realm.cjs';

const { isArrayBufferView } = builtin('node:util/types');

/** Key of the moved part in an object that is moved, not copied. That of piscina. */
export const transferableSymbol: unique symbol = Symbol.for('Piscina.transferable') as never;
/** Key of the value that the other side gets for such an object. That of piscina. */
export const valueSymbol: unique symbol = Symbol.for('Piscina.valueOf') as never;
/** Key of a task's options for the user's own queue. That of piscina. */
export const queueOptionsSymbol: unique symbol = Symbol.for('Piscina.queueOptions') as never;
/** Registered as well: compilers that hook `require()` load a copy of this module of their own. */
const moved: unique symbol = Symbol.for('millrace.moved') as never;

/** A movable value: `[transferableSymbol]` leaves this thread, the other side gets `[valueSymbol]`. */
export interface Transferable {
  readonly [transferableSymbol]: object;
  readonly [valueSymbol]: object;
}

interface Moved extends Transferable {
  [moved]?: true;
}

class Move implements Transferable {
  readonly [transferableSymbol]: object;
  readonly [valueSymbol]: object;

  constructor(item: object, value: object) {
    this[transferableSymbol] = item;
    this[valueSymbol] = value;
  }
}

export const isTransferable = (value: unknown): value is Transferable =>
  typeof value === 'object' &&
  value !== null &&
  transferableSymbol in value &&
  valueSymbol in value;

export function isMoved(value: unknown): value is Transferable {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return (value as Moved)[moved] === true;
  } catch {
    // A proxy whose trap throws.
    return false;
  }
}

export function markMoved(value: object): void {
  Object.defineProperty(value, moved, { value: true, configurable: true, writable: true });
}

/**
 * Marks a task or a result as moved, not copied: an ArrayBuffer, a view of one (the whole buffer goes), a MessagePort or
 * another transferable object, or an object of the {@link Transferable} kind. It has to be the task or the result itself, not
 * a part of it. Returns anything but an object unchanged.
 */
export function move<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  let wrapped: object = value;
  if (!isTransferable(value)) {
    wrapped = new Move(isArrayBufferView(value) ? value.buffer : value, value);
  }
  markMoved(wrapped);
  return wrapped as T;
}

/** The part of a moved value that goes into a transfer list. */
export function transferOf(value: Transferable): TransferItem[] {
  const item = value[transferableSymbol];
  return (Array.isArray(item) ? item : [item]) as TransferItem[];
}
