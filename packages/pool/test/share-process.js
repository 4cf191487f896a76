/** A process of a cluster with a pool: says how large it may be. */
import { Pool } from '@millrace/pool';
import { tasks } from './support.js';

const pool = new Pool({ filename: tasks });
pool.on('allocation', ({ reason, maxThreads }) => {
  if (reason === 'share') process.send({ reason, maxThreads });
});
process.on('message', async (message) => {
  if (message !== 'end') return;
  await pool.destroy();
  process.exit();
});
await pool.run(1);
process.send({ maxThreads: pool.maxThreads, workers: pool.threads.length });
