/**
 * Arm of one round: `node rate-arm.js PLAN` sends tasks per second, what they cost the main thread, and for calls of
 * which few are in flight how long they took. Every result is checked.
 */
import { percentile } from '../guard/clock.js';
import { work } from '../guard/work.js';
import { watchMainThread } from './main-thread.js';
import { startPool, tell } from './start.js';
import { rates } from './work.js';

/** @typedef {{ title: string, subject: string, workers: number, perMs: number, warmup: number, seconds: number }} Plan */
const plan = JSON.parse(process.argv[2]);
const { task, us, deep, inFlight } = rates[plan.title];

const pool = await startPool(plan.subject, task, { ...plan, shortUs: us });
const run = pool.call(task);
/** Result of a task beyond its number. */
const base = task === 'noop' ? 1 : work(pool.steps.short);
const latencies = [];
let next = 0;
let done = 0;
let sum = 0;
let wrong = null;

function check(number, result) {
  done++;
  sum += result;
  if (result !== number + base) wrong ??= `task ${number} gave ${result}, not ${number + base}`;
}

/** Makes all calls at once. */
async function burst() {
  const first = next;
  next += deep;
  const answers = new Array(deep);
  for (let i = 0; i < deep; i++) answers[i] = run(first + i);
  const results = await Promise.all(answers);
  for (let i = 0; i < deep; i++) check(first + i, results[i]);
}

async function visitor(end) {
  for (;;) {
    const start = performance.now();
    if (start >= end) return;
    const number = next++;
    check(number, await run(number));
    latencies.push(performance.now() - start);
  }
}

async function runFor(seconds) {
  const end = performance.now() + seconds * 1000;
  if (deep === undefined) await Promise.all(Array.from({ length: inFlight }, () => visitor(end)));
  else
    do await burst();
    while (performance.now() < end);
}

await runFor(plan.warmup);
latencies.length = 0;
const before = done;
const measured = watchMainThread();
const start = performance.now();
await runFor(plan.seconds);
const ms = performance.now() - start;
const main = measured();
const tasks = done - before;

if (done !== next) wrong ??= `${done} of ${next} tasks were answered`;
// Of 0 to next - 1.
const expected = (next * (next - 1)) / 2 + next * base;
if (sum !== expected) wrong ??= `the results' sum is ${sum}, not ${expected}`;
wrong ??= await pool.wrongThreads();

tell({
  tasks_per_s: (tasks / ms) * 1000,
  main_cpu_us_per_task: main.cpu_us / tasks,
  main_utilization: main.utilization,
  loop_p99_ms: main.loop_p99_ms,
  loop_max_ms: main.loop_max_ms,
  p50_us: percentile(latencies, 0.5) * 1000,
  p99_us: percentile(latencies, 0.99) * 1000,
  tasks,
  wrong,
});
