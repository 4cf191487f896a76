import { inOrder } from './in-order.js';
import { widthOf } from './index.js';

/**
 * Has a task of the pool run for each item, and yields the results in the items' order.
 *
 * @param {import('@millrace/pool').Pool} pool
 * @param {string} name of the task
 * @param {Iterable | AsyncIterable} items
 * @param {{ signal: AbortSignal, transfer?: (item) => object[] }} options
 */
export function divide(pool, name, items, { signal, transfer }) {
  const run = (item, signal) => pool.run(item, { name, signal, transferList: transfer?.(item) });
  return inOrder(items, run, { width: widthOf(pool.maxThreads), signal });
}
