/**
 * The async context of a push, so that a handler sees the AsyncLocalStorage values of the code that pushed its event.
 *
 * Capturing costs many times what an event costs otherwise, so it is done only once AsyncLocalStorage is in use. There is no public way to
 * ask for that; the first `run` or `enterWith` of any storage tells. Both are wrapped until then, and given back at once.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { type Method, patchMethod } from '@millrace/base/patch';

let inUse = false;
/** A storage of ours enters or leaves a context. */
let isOwn = false;

type Storage = AsyncLocalStorage<unknown>;
const prototype = AsyncLocalStorage.prototype as Storage;
const { run } = prototype;

const patches = [
  patchMethod(prototype, 'run', watched),
  patchMethod(prototype, 'enterWith', watched),
];

function watched(original: Method): Method {
  return function (this: Storage, ...args: unknown[]): unknown {
    found();
    return Reflect.apply(original, this, args);
  };
}

function found(): void {
  if (isOwn) return;
  inUse = true;
  for (const patch of patches) patch.undo();
}

/** Treatment of async context by a queue: `auto` captures once AsyncLocalStorage is in use. */
export type ContextMode = 'auto' | 'on' | 'off';

/** The current context, or null when none needs keeping. */
export function captureContext(mode: ContextMode): AsyncResource | null {
  if (mode === 'off' || (mode === 'auto' && !inUse)) return null;
  return new AsyncResource('MillraceEvent');
}

/** Runs `fn` in a captured context, or as it is. */
export function runInContext<Argument>(
  context: object | null,
  fn: (argument: Argument) => void,
  argument: Argument,
): void {
  if (context === null) fn(argument);
  else (context as AsyncResource).runInAsyncScope(fn, undefined, argument);
}

/** `storage.run()` for a storage of ours, which does not make every queue capture contexts. */
export function runUnnoticed<Store, Result>(
  storage: AsyncLocalStorage<Store>,
  store: Store,
  fn: () => Result,
): Result {
  const inside = () => {
    isOwn = false;
    try {
      return fn();
    } finally {
      isOwn = true;
    }
  };
  // From Node.js 24 on it calls `enterWith`, before and after.
  isOwn = true;
  try {
    return Reflect.apply(run, storage, [store, inside]) as Result;
  } finally {
    isOwn = false;
  }
}
