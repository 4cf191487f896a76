/**
 * Arm of one round: `node mixed-arm.js PLAN` hands in short and long tasks when they are due and sends how long the short ones
 * took, from the time at which they were due. Every result is checked.
 */

import { randomFrom } from '@millrace/lab/stats';
import { percentile, poisson, sendWhenDue } from '../guard/clock.js';
import { work } from '../guard/work.js';
import { watchMainThread } from './main-thread.js';
import { startPool, tell } from './start.js';
import { mixed } from './work.js';

/** @typedef {{ subject: string, workers: number, perMs: number, warmup: number, seconds: number, seed: number }} Plan */
const plan = JSON.parse(process.argv[2]);
const kinds = { short: 'spin', long: 'spinLong' };

const pool = await startPool(plan.subject, kinds.short, {
  ...plan,
  shortUs: mixed.short.us,
  longUs: mixed.long.us,
});
const start = performance.now() + 20;
const counted = start + plan.warmup * 1000;
const last = counted + plan.seconds * 1000;
const events = Object.keys(kinds)
  .flatMap((kind, i) => {
    const random = randomFrom(plan.seed + i);
    const base = work(pool.steps[kind]);
    const run = pool.call(kinds[kind]);
    return [...poisson(mixed[kind].perSecond, start, last, random)].map((due) => ({
      ...{ due, kind, base, run },
      done: Number.NaN,
    }));
  })
  .sort((a, b) => a.due - b.due);

let wrong = null;
const answers = [];
let measured;
const late = await sendWhenDue(events, (event) => {
  if (measured === undefined && event.due >= counted) measured = watchMainThread();
  answers.push(answer(event, answers.length));
});
await Promise.all(answers);
const main = measured();
wrong ??= await pool.wrongThreads();

async function answer(event, number) {
  const result = await event.run(number);
  event.done = performance.now();
  if (result !== event.base + number) wrong ??= `task ${number} gave ${result}`;
}

const took = (kind) =>
  events
    .filter((event) => event.kind === kind && event.due >= counted)
    .map(({ due, done }) => done - due);
const short = took('short');
tell({
  p50_us: percentile(short, 0.5) * 1000,
  p99_us: percentile(short, 0.99) * 1000,
  long_p99_ms: percentile(took('long'), 0.99),
  late_p99_ms: percentile(late, 0.99),
  tasks: events.length,
  ...main,
  wrong,
});
