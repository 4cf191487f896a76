/** How many threads a pool has: the share of the process, and when another worker is worth its start. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { on, once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cpuShare, onShare } from '@millrace/base/limits/limits';
import { limits } from '@millrace/monitor';
import { defaultThreads } from '../dist/options.js';
import { wantsWorker } from '../dist/workers.js';

const { cpus } = limits();
const program = fileURLToPath(new URL('sizing-process.js', import.meta.url));
const limit = { timeout: 300_000 };

function withVariable(value, check) {
  const before = process.env.MILLRACE_CPUS;
  process.env.MILLRACE_CPUS = value;
  try {
    check();
  } finally {
    if (before === undefined) delete process.env.MILLRACE_CPUS;
    else process.env.MILLRACE_CPUS = before;
  }
}

test('the share is the lesser one of the limits and the variable', () => {
  withVariable('0.25', () => assert.equal(cpuShare(), 0.25));
  withVariable(' 0.25 ', () => assert.equal(cpuShare(), 0.25));
  withVariable('100000', () => assert.equal(cpuShare(), cpus));
});

test('a variable that is no number above 0 is ignored', () => {
  for (const value of ['', ' ', 'two', '0', '-1', 'NaN', 'Infinity', '1,5', 'null', '[1]']) {
    withVariable(value, () => assert.equal(cpuShare(), cpus, `'${value}'`));
  }
});

test('threads by default: whole CPUs, and one at least', () => {
  const max = (share) => defaultThreads(share).max;
  assert.deepEqual([0.25, 1, 1.5, 1.99, 2, 6.5, 64].map(max), [1, 1, 1, 1, 2, 6, 64]);
  assert.equal(defaultThreads(8).min, 1);
});

/** A process of a cluster, and what it says, message by message. */
async function processOf(t, env) {
  cluster.setupPrimary({ exec: program });
  const worker = cluster.fork(env);
  const exit = once(worker, 'exit');
  t.after(() => worker.process.kill('SIGKILL'));
  const messages = on(worker, 'message');
  const next = async () => (await messages.next()).value[0];
  return { worker, exit, next };
}

test('a process of a cluster hears its share', limit, async (t) => {
  const { worker, next } = await processOf(t, { MILLRACE_CPUS: '0.75' });
  assert.deepEqual(await next(), { start: Math.min(0.75, cpus), listeners: 1 });
  worker.send({ 'millrace:cpus': 0.5 });
  assert.deepEqual(await next(), { share: 0.5, env: '0.5' });
  for (const message of [
    { 'millrace:cpus': 0 },
    { 'millrace:cpus': -1 },
    { 'millrace:cpus': null },
    { 'millrace:cpus': [1] },
    { other: 1 },
    'text',
    5,
    { 'millrace:cpus': 100_000 },
  ]) {
    worker.send(message);
  }
  assert.deepEqual(await next(), { share: cpus, env: '100000' });
});

test('it listens once, and for as long as somebody listens', limit, async (t) => {
  const { next } = await processOf(t, { SCENARIO: 'stops' });
  assert.deepEqual(await next(), { start: cpus, listeners: 1 });
  assert.deepEqual(await next(), { one: 1, none: 0 });
});

test(
  'a listener that throws is an uncaught exception, and the others hear it',
  limit,
  async (t) => {
    const { worker, next } = await processOf(t, { SCENARIO: 'throws' });
    await next();
    worker.send({ 'millrace:cpus': 0.5 });
    const said = [await next(), await next()];
    assert.deepEqual(said, [{ share: 0.5, env: '0.5' }, { uncaught: 'of the first listener' }]);
  },
);

test('it does not keep a process alive that has let go of its channel', limit, async (t) => {
  const { exit, next } = await processOf(t, { SCENARIO: 'unref' });
  assert.equal((await next()).listeners, 1);
  assert.deepEqual(await exit, [0, null]);
});

test('a process that is in no cluster does not listen, and ends', limit, async (t) => {
  const child = fork(program);
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  assert.deepEqual((await once(child, 'message'))[0], { start: cpus, listeners: 0 });
  assert.deepEqual(await exit, [0, null]);
  const before = process.listenerCount('message');
  const stop = onShare(() => {});
  assert.equal(process.listenerCount('message'), before);
  stop();
});

const demand = { waiting: 10, workers: 2, max: 4, meanTaskMs: 5, startMs: 30 };
const wants = (changed) => wantsWorker({ ...demand, ...changed });

test('another worker: never above the most, nor for nothing', () => {
  assert.equal(wants({}), true);
  assert.equal(wants({ workers: 4 }), false);
  assert.equal(wants({ workers: 5 }), false);
  assert.equal(wants({ waiting: 0 }), false);
  assert.equal(wants({ waiting: 0, workers: 0 }), false);
});

test('another worker: for long and unknown tasks as soon as one waits', () => {
  assert.equal(wants({ waiting: 1, meanTaskMs: null }), true);
  assert.equal(wants({ waiting: 1, meanTaskMs: 1 }), true);
  assert.equal(wants({ waiting: 1, meanTaskMs: 0.999 }), false);
  assert.equal(wants({ waiting: 1, workers: 0, meanTaskMs: 0.001 }), true);
  assert.equal(wants({ waiting: 1, workers: 0, meanTaskMs: 0 }), true);
});

test('another worker: for tiny tasks if those that are there need longer than one takes to start', () => {
  const tiny = { meanTaskMs: 0.01, workers: 1, startMs: 30 };
  assert.equal(wants({ ...tiny, waiting: 3000 }), false);
  assert.equal(wants({ ...tiny, waiting: 3001 }), true);
  assert.equal(wants({ ...tiny, waiting: 6000, workers: 2 }), false);
  assert.equal(wants({ ...tiny, waiting: 6001, workers: 2 }), true);
  assert.equal(wants({ ...tiny, waiting: 1e6, meanTaskMs: 0 }), false);
});
