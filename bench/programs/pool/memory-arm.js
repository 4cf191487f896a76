/** Arm of one round: `node memory-arm.js PLAN` sends the memory of a process with a warm pool. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPool, tell } from './start.js';

/** @typedef {{ subject: string, workers: number, perMs: number }} Plan */
const plan = JSON.parse(process.argv[2]);
const pool = await startPool(plan.subject, 'noop', plan);
const run = pool.call('noop');
let wrong = null;
for (let burst = 0; burst < 10; burst++) {
  const results = await Promise.all(Array.from({ length: 1000 }, (_, i) => run(i)));
  if (results.some((result, i) => result !== i + 1)) wrong ??= 'a result is wrong';
}
wrong ??= await pool.wrongThreads();
// Threads that have nothing to do give memory back.
await sleep(200);
tell({ rss: process.memoryUsage.rss(), wrong });
