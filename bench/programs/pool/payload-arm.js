/** Arm of one round: `node payload-arm.js PLAN` sends how many buffers a second went to a worker and came back. */

import { watchMainThread } from './main-thread.js';
import { startPool, tell } from './start.js';
import { payloads } from './work.js';

/** @typedef {{ title: string, subject: string, workers: number, perMs: number, warmup: number, seconds: number }} Plan */
const plan = JSON.parse(process.argv[2]);
const { bytes: size, transferred } = payloads[plan.title];

const pool = await startPool(plan.subject, transferred ? 'give' : 'echo', plan);
const run = transferred ? pool.give('give') : pool.call('echo');
let done = 0;
let wrong = null;

/** Sends what came back again, with a number in its last byte that has to stay. */
async function visitor(end) {
  let bytes = new Uint8Array(size);
  while (performance.now() < end) {
    const [first, last] = [bytes[0], done % 256];
    bytes[size - 1] = last;
    const sent = bytes;
    bytes = await run(sent);
    done++;
    if (bytes.length !== size || bytes[0] !== (first + 1) % 256 || bytes[size - 1] !== last)
      wrong ??= `${size} bytes came back as ${bytes.length} others`;
    if (transferred !== (sent.length === 0))
      wrong ??= `they were ${transferred ? 'not ' : ''}transferred`;
  }
}

function runFor(seconds) {
  const end = performance.now() + seconds * 1000;
  return Promise.all(Array.from({ length: plan.workers }, () => visitor(end)));
}

await runFor(plan.warmup);
const before = done;
const measured = watchMainThread();
const start = performance.now();
await runFor(plan.seconds);
const ms = performance.now() - start;
const main = measured();
wrong ??= await pool.wrongThreads();
tell({
  tasks_per_s: ((done - before) / ms) * 1000,
  main_cpu_us_per_task: main.cpu_us / (done - before),
  loop_p99_ms: main.loop_p99_ms,
  wrong,
});
