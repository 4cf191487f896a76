import { setMaxListeners } from 'node:events';

/**
 * Runs something for each item, at most `width` at the same time, and yields the results in the order of the items. The next
 * item is asked for only when there is room, so that a source that waits, as a stream does, is slowed down to what can be
 * done. When one fails, or the results are not wanted any more, the others are aborted.
 *
 * @template Item, Result
 * @param {Iterable<Item> | AsyncIterable<Item>} items
 * @param {(item: Item, signal: AbortSignal) => Promise<Result>} run
 * @param {{ width: number, signal: AbortSignal }} options
 * @returns {AsyncGenerator<Result>}
 */
export async function* inOrder(items, run, { width, signal }) {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  // As many listen as are under way, and these are bounded.
  setMaxListeners(0, either);
  const underWay = [];
  try {
    for await (const item of items) {
      either.throwIfAborted();
      const result = run(item, either);
      // A failure is noticed when it is this one's turn.
      result.catch(() => {});
      underWay.push(result);
      if (underWay.length >= width) yield await underWay.shift();
    }
    while (underWay.length > 0) yield await underWay.shift();
  } finally {
    ended.abort();
    await Promise.allSettled(underWay);
  }
}
