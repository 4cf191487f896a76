import { nextTick } from '../core/timers.cjs';

/** A promise with its two ends, in one object and without a closure of ours. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  protected readonly resolve: (value: T | PromiseLike<T>) => void;
  protected readonly reject: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>(keepEnds);
    this.resolve = lastResolve as typeof this.resolve;
    this.reject = lastReject;
  }
}

let lastResolve: (value: never) => void;
let lastReject: (error: unknown) => void;

function keepEnds(resolve: (value: never) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

/**
 * Rejects with `error`, some ticks later. Resolve a promise with this one instead of rejecting it: V8 then finds the async
 * functions that wait for that promise, and the stack of the error names them, as a stack of Node.js' own errors does.
 */
export function rejection(error: Error): Promise<never> {
  return new Promise<void>(atNextTick).then(function reject() {
    Error.captureStackTrace(error, reject);
    throw error;
  });
}

// In the microtask queue the links from promise to promise are made first.
const atNextTick = (resolve: () => void): void => nextTick(resolve);
