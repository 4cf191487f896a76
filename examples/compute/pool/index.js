/** The only place that knows which pool it is. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Pool } from '@millrace/pool';
import { MOST_DIVIDED, TASK_TIMEOUT_MS } from '../settings.js';

export { fileChunks, lineChunks, move } from '@millrace/pool';

/** Tasks of a divided request that are under way: one more than there are threads, so that none waits for the loop. */
export const widthOf = (threads) => threads + 1;

/** @param {{ threads?: number, queue: number }} options */
export function createPool({ threads, queue }) {
  // What has begun finds room even when the queue is full for others.
  const reserve = MOST_DIVIDED * widthOf(threads ?? availableParallelism());
  const pool = new Pool({
    filename: fileURLToPath(new URL('./tasks.js', import.meta.url)),
    ...(threads === undefined ? {} : { maxThreads: threads }),
    maxQueue: queue + reserve,
    timeout: TASK_TIMEOUT_MS,
  });
  // Started threads cost some memory, and nothing else; the first request should not wait for them.
  pool.prewarm().catch(() => {});
  return pool;
}
