/**
 * Arm of one round: `node health-arm.js PLAN` asks a server for /health at times that do not depend on its answers, first while it is
 * idle and then while it computes a Fibonacci number, and sends how long the answers took.
 */

import { randomFrom } from '@millrace/lab/stats';
import { get, Pool } from '../../lib/http-client.js';
import { startServer } from '../../lib/load.js';
import { percentile, poisson, sendWhenDue } from '../guard/clock.js';
import { lastBitsOf } from './fibonacci.js';
import { health } from './work.js';

/**
 * @typedef {object} Plan
 * @property {string[]} command that starts the server
 * @property {number} seed of the arrivals
 * @property {number} seconds of either part
 * @property {boolean} whole waits for the number to be computed, and asks all the time
 */
const plan = JSON.parse(process.argv[2]);
const random = randomFrom(plan.seed);
const { port, died, stop } = await startServer(plan);
const [pool, longPool] = [new Pool(port), new Pool(port)];
const question = get('/health');
let wrong = null;

async function ask(seconds) {
  const start = performance.now() + 10;
  const events = [...poisson(health.perSecond, start, start + seconds * 1000, random)];
  const probes = events.map((due) => ({ due, done: Number.NaN }));
  await sendWhenDue(probes, (probe) =>
    pool.request(question, (status, body) => {
      // No answer: a server that is blocked has no room for more connections, and at the end they are closed.
      if (status === 0) return;
      probe.done = performance.now();
      if (status !== 200 || body !== 'ok') wrong ??= `the answer to /health was ${status} ${body}`;
    }),
  );
  return probes;
}

/** Response times, ms; until now for missing responses. */
function waits(probes) {
  const now = performance.now();
  return probes.map(({ due, done }) => (Number.isNaN(done) ? now : done) - due);
}

/** Resolves to the server's response for a Fibonacci number. */
function compute(n) {
  return new Promise((resolve) => {
    longPool.request(get(`/fibonacci/${n}`), (status, body) => resolve(`${status} ${body}`));
  });
}

async function check(n, answer) {
  if ((await answer) !== `200 ${lastBitsOf(n)}`)
    wrong ??= `the answer to /fibonacci/${n} was ${await answer}`;
}

async function measure() {
  // Neither the first requests nor the first number of a server count.
  await check(health.first, compute(health.first));
  await ask(0.5);
  const idle = waits(await ask(plan.seconds));

  let isComputed = false;
  const answer = compute(health.n).then((text) => {
    isComputed = true;
    return text;
  });
  const probes = [];
  do {
    probes.push(...(await ask(plan.seconds)));
    if (isComputed && !plan.whole) wrong ??= `/fibonacci/${health.n} took less than the window`;
  } while (plan.whole && !isComputed);
  const during = waits(probes);
  if (plan.whole) await check(health.n, answer);
  return { idle, during };
}

const { idle, during } = await Promise.race([measure(), died]);
pool.close();
longPool.close();
await stop();
const [idleP99, p99] = [idle, during].map((list) => percentile(list, 0.99));
process.send({
  ...{ idle_p50_ms: percentile(idle, 0.5), idle_p99_ms: idleP99 },
  ...{ p50_ms: percentile(during, 0.5), health_p99_ms: p99, max_ms: percentile(during, 1) },
  health_p99_ratio: p99 / idleP99,
  probes: during.length,
  idle_probes: idle.length,
  wrong,
});
process.disconnect();
