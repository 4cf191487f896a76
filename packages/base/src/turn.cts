/**
 * Ends of a turn, and gatherers that hand over their items there. A feature that batches the work of one turn chooses a point by the
 * code that feeds it:
 *
 * - `atTurnEnd`: the check phase, right after the poll phase in which reads and their callbacks ran. For what sockets feed: Node.js
 *   empties the queues below after every single callback.
 * - `nextTick` of timers.cts: after the callback that is running. For calls that one callback makes.
 * - `nextMicrotask`: after the promise jobs that are queued now.
 * - `afterMicrotasks`: when the microtask queue is empty, however long chains of promises are. For calls that are made from promises.
 *
 * Each gatherer schedules itself, when its first item comes. So it runs in the async context of that item, its end comes in the order
 * in which gatherers got their first items, and an error of one is no other's: Node.js goes on with the next one. Within a gatherer
 * `callEach` does the same.
 */
import { nextTick, queueMicrotask, setImmediate } from './timers.cjs';

/** Calls `fn` later, once. */
export type Point = (fn: () => void) => unknown;

/** Calls `fn` with `args` at the end of the loop turn. The process waits for it, unless it is unreferenced. */
export const atTurnEnd: <Args extends unknown[]>(
  fn: (...args: Args) => void,
  ...args: Args
) => NodeJS.Immediate = setImmediate;

/** Calls `fn` after the promise jobs that are queued now. */
export const nextMicrotask: (fn: () => void) => void = queueMicrotask;

/**
 * Calls `fn` when the microtask queue is empty: a promise job first, so that all jobs queued so far run and may add something; then
 * nextTick, which Node.js takes up again once the microtask queue has drained.
 */
export function afterMicrotasks(fn: () => void): void {
  Promise.resolve().then(() => nextTick(fn));
}

/** Returns a function that schedules `fn` for the next such point. Further calls until then change nothing. */
export function onceAt(point: Point, fn: () => void): () => void {
  let isScheduled = false;
  const run = (): void => {
    isScheduled = false;
    fn();
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    point(run);
  };
}

/** Collects items until a point, and hands them over together there, in the order in which they came. */
export class Turn<Item> {
  readonly #point: Point;
  readonly #handOver: (items: Item[]) => void;
  #items: Item[] = [];

  constructor(point: Point, handOver: (items: Item[]) => void) {
    this.#point = point;
    this.#handOver = handOver;
  }

  /** O(1). An item that is added while others are handed over is one of the next turn. */
  add(item: Item): void {
    if (this.#items.push(item) === 1) this.#point(this.flush);
  }

  /** Hands over what there is, now. */
  readonly flush = (): void => {
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#handOver(items);
  };
}

/** Calls `fn` with each item, even if it throws for some. The first error is thrown at the end, others are thrown later. */
export function callEach<Item>(items: readonly Item[], fn: (item: Item) => void): void {
  let isFailed = false;
  let first: unknown;
  for (const item of items) {
    try {
      fn(item);
    } catch (error) {
      if (isFailed) throwLater(error);
      else first = error;
      isFailed = true;
    }
  }
  if (isFailed) throw first;
}

/**
 * Throws an error of the application where nothing else is in the middle of its work: an uncaught exception, as it would have been
 * anyway. A batch in which it is called goes on first; what its promises do, too, where the point is the end of the turn.
 */
export function throwLater(error: unknown, point: Point = nextTick): void {
  point(() => {
    throw error;
  });
}
