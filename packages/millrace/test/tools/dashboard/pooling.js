// A process with a thread of a pool and one of its own, which both do what auto does.
import { isMainThread, threadId, Worker } from 'node:worker_threads';
import { Pool } from '@millrace/pool';
import { startDashboard } from 'millrace/dashboard';

const self = new URL(import.meta.url);
await startDashboard({});

/** Runs in the pool. */
export default () => threadId;

if (isMainThread) {
  const pool = new Pool({ filename: self.href, minThreads: 1, maxThreads: 1 });
  const ofPool = await pool.run(0);
  const other = new Worker(self);
  process.send({ ofPool, other: other.threadId });
  process.on('disconnect', () => process.exit());
} else {
  setInterval(() => {}, 1000).unref();
  if (!process.argv[1].endsWith('main.js')) setInterval(() => {}, 1000);
}
