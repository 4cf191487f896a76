// Random mixes of everything that may happen to a task, against what has to come of it: each call is answered once, and with
// what its task gives; what may not run twice does not; those that nothing happens to run once; no worker is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool } from '@millrace/pool';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { repeat, shared, until } from './support.js';

const filename = new URL('./random-tasks.js', import.meta.url);
const names = ['first', 'second', 'third'];
const priorities = ['high', 'normal', 'low'];

const ended = 'MILLRACE_E_WORKER';
const late = 'MILLRACE_E_TIMEOUT';
const aborted = 'MILLRACE_E_ABORTED';

/** What tasks do, how often, and what comes of it if nothing happens to them. */
const kinds = [
  { kind: 'returns', share: 60, gives: (n) => n },
  { kind: 'moves', share: 8, gives: (n) => n },
  { kind: 'waits', share: 15, gives: (n) => n },
  { kind: 'computes', share: 15, gives: (n) => n },
  { kind: 'prints and returns', share: 5, gives: (n) => n },
  { kind: 'throws', share: 8, gives: (n) => `E_${n}` },
  { kind: 'rejects', share: 5, gives: (n) => `E_${n}` },
  { kind: 'is not clonable', share: 5, gives: () => 'MILLRACE_E_BAD_RESULT' },
  { kind: 'cannot be sent', share: 5, gives: () => 'MILLRACE_E_INVALID_ARGUMENT' },
  { kind: 'dies', share: 2, ends: true, gives: (n, retry) => (retry > 0 ? n : ended) },
  { kind: 'dies later', share: 1, ends: true, gives: () => ended },
  { kind: 'loops', share: 2, ends: true, stuck: true },
  { kind: 'listens', share: 2, stuck: true },
  { kind: 'hears', share: 2, stuck: true },
];
const shares = kinds.flatMap((each) => repeat(each.share, () => each));

function planOf(random, count) {
  const pick = (...values) => values[random(values.length)];
  const maxThreads = 1 + random(2);
  const options = {
    filename,
    maxThreads,
    minThreads: random(maxThreads + 1),
    concurrentTasksPerWorker: pick(1, 1, 3),
    maxBatch: pick(1, 5, 512, 512),
    aging: pick(1, 1000),
    abortGrace: pick(0, 3, 50),
    idleTimeout: pick(0, 5, 10_000),
    maxTasksPerWorker: pick(15, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    stricterFIFO: random(6) === 0,
  };
  const tasks = repeat(count, (n) => {
    const { kind, ends = false, stuck = false, gives } = shares[random(shares.length)];
    // Something has to stop those that would not end.
    const stops = stuck || random(10) === 0 ? pick('timeout', 'abort', 'both') : 'nothing';
    const retry = random(8) === 0 ? 1 + random(2) : 0;
    const task = { n, kind, ms: random(5) / 2 };
    return {
      task,
      ends,
      stops,
      retry,
      stuck,
      gives,
      name: names[random(3)],
      priority: priorities[random(3)],
      timeout: stops === 'timeout' || stops === 'both' ? 3 + random(30) : 0,
      abortAfter: stops === 'abort' || stops === 'both' ? random(20) : null,
    };
  });
  return { options, tasks };
}

/** All that may come of a task. */
function allowed({ task: { n, kind }, gives, stops, stuck, timeout, abortAfter, retry }, others) {
  const all = new Set();
  if (!stuck) all.add(gives(n, retry));
  // Whether it has begun when it is over is a matter of time, and what it gives then too.
  if (timeout > 0 && kind !== 'cannot be sent') all.add(late);
  if (abortAfter !== null) all.add(aborted);
  // What was moved to a worker that ends goes with it; so does what runs beside a task that ends it.
  const isAlone = stops !== 'nothing';
  if (others.end && (kind === 'moves' || (others.beside && !isAlone))) all.add(ended);
  return all;
}

async function play(t, seed) {
  const random = randomNumbers(seed);
  const count = 160;
  const { options, tasks } = planOf(random, count);
  const runs = shared(count);
  const pool = new Pool(options);
  t.after(() => pool.destroy());
  const workers = new Set();
  pool.on('workerCreate', (worker) => workers.add(worker));
  // Of workers that end while they have nothing to do.
  pool.on('error', () => {});
  const pending = new Set(tasks.map(({ task }) => task.n));

  const call = async ({ task, name, priority, timeout, abortAfter, retry }) => {
    const argument = { ...task, runs };
    const given = { name, priority, timeout, retry };
    if (task.kind === 'moves') {
      argument.buffer = new ArrayBuffer(8);
      given.transferList = [argument.buffer];
    }
    if (task.kind === 'cannot be sent') argument.not = () => {};
    if (abortAfter !== null) {
      const controller = new AbortController();
      given.signal = controller.signal;
      if (abortAfter === 0) queueMicrotask(() => controller.abort());
      else setTimeout(() => controller.abort(), abortAfter);
    }
    try {
      return await pool.run(argument, given);
    } catch (error) {
      return error.code;
    } finally {
      pending.delete(task.n);
    }
  };

  const calls = [];
  for (const each of tasks) {
    calls.push(call(each));
    if (random(12) === 0) await new Promise((resolve) => setImmediate(resolve));
    if (random(40) === 0) await calls[random(calls.length)];
    if (random(150) === 0) pool.recycle().catch(() => {});
  }
  const stuckTimer = setTimeout(() => {
    const left = [...pending].map((n) => ({ ...tasks[n], runs: runs[n] }));
    console.error({ seed, left, stats: pool.stats() });
    void pool.destroy();
  }, 500_000);
  const outcomes = await Promise.all(calls);
  clearTimeout(stuckTimer);

  const concurrency = options.concurrentTasksPerWorker;
  const others = { end: tasks.some(({ ends }) => ends), beside: concurrency > 1 };
  // A task that does not end in time is stopped by the end of its worker if it does not listen: most do not.
  others.end ||= tasks.some(({ stops }) => stops !== 'nothing');
  const died = outcomes.some((each) => each === ended);
  for (const [n, each] of tasks.entries()) {
    const message = JSON.stringify({ seed, ...each, outcome: outcomes[n], runs: runs[n] });
    const may = allowed(each, others);
    assert.ok(may.has(outcomes[n]), `${message} may be ${[...may]}`);
    assert.ok(runs[n] <= 1 + each.retry, message);
    if (outcomes[n] === n && each.retry === 0) assert.equal(runs[n], 1, message);
    if (!died && outcomes[n] === n && each.task.kind !== 'dies') assert.equal(runs[n], 1, message);
  }
  await until(() => pool.stats().workers.busy === 0);
  const { completed, failed, running, queued, workers: now } = pool.stats();
  assert.equal(completed, count, `seed ${seed}`);
  assert.equal(failed, outcomes.filter((each) => typeof each === 'string').length, `seed ${seed}`);
  assert.deepEqual([running, queued.total], [0, 0], `seed ${seed}`);
  assert.ok(now.total <= options.maxThreads + 1, `seed ${seed}`);
  await pool.destroy();
  assert.deepEqual(pool.threads, []);
  for (const { id } of workers) assert.equal(id, -1, `seed ${seed}: a worker is left`);
}

test('random mixes of tasks', async (t) => {
  for (const seed of seeds(4)) await t.test(`seed ${seed}`, (each) => play(each, seed));
});
