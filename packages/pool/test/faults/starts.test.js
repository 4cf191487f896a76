// Injected: workers that cannot be started any more, workerData that is large or has gone, several waits for the same workers. Counted: calls
// that were answered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool } from '@millrace/pool';
import { atRest, open, outcomes, repeat, tasks, until } from './support.js';

const code = 'MILLRACE_E_WORKER';

test('workerData that cannot be cloned is refused by the constructor', () => {
  assert.throws(() => new Pool({ filename: tasks, workerData: () => {} }), {
    name: 'DataCloneError',
  });
});

test('workerData that has been transferred meanwhile: no worker can start in place of one that ends; each call says so', async (t) => {
  const buffer = new ArrayBuffer(8);
  const pool = open(t, { workerData: { buffer }, maxThreads: 1 });
  await pool.prewarm();
  structuredClone(buffer, { transfer: [buffer] });
  const calls = [
    pool.run({ how: 'exit' }, { name: 'crash', retry: 3 }),
    ...repeat(10, (n) => pool.run(n)),
  ];
  assert.deepEqual(await outcomes(calls), { [code]: 11 });
  await assert.rejects(pool.run(1), { code, message: /workers cannot be started: .*detached/ });
  await assert.rejects(pool.prewarm(), { code, message: /workers cannot be started/ });
  await atRest(pool, 12);
});

test('a recycle that cannot start workers says so, and the old ones go on', async (t) => {
  const buffer = new ArrayBuffer(8);
  const pool = open(t, { workerData: { buffer }, maxThreads: 1 });
  await pool.prewarm();
  structuredClone(buffer, { transfer: [buffer] });
  await assert.rejects(pool.recycle(), { code });
  await assert.rejects(pool.recycle(), { code });
  assert.deepEqual(await outcomes(repeat(10, (n) => pool.run(n))), { ok: 10 });
  await atRest(pool, 10);
});

test('workerData of 32 MB', async (t) => {
  const pool = open(t, { workerData: { bytes: new Uint8Array(32 * 2 ** 20) }, minThreads: 2 });
  await pool.prewarm();
  assert.deepEqual(await outcomes(repeat(100, (n) => pool.run(n))), { ok: 100 });
  await atRest(pool, 100);
});

test('resource limits that leave no room to start: calls fail, and nothing goes on for ever', async (t) => {
  // With less, V8 of Node.js 24 ends the whole process.
  const pool = open(t, { resourceLimits: { maxOldGenerationSizeMb: 4 } });
  pool.on('error', () => {});
  const calls = repeat(20, (n) => pool.run(n));
  const { ok = 0, [code]: failed = 0 } = await outcomes(calls);
  assert.equal(ok + failed, 20);
  await atRest(pool, 20);
});

test('several wait for the same workers to be ready or replaced', async (t) => {
  const pool = open(t, { idleTimeout: Number.POSITIVE_INFINITY });
  await Promise.all([pool.prewarm(), pool.prewarm(2), pool.prewarm(1)]);
  const before = pool.threads;
  let most = 0;
  pool.on('allocation', ({ workers }) => {
    most = Math.max(most, workers);
  });
  await Promise.all([pool.recycle(), pool.recycle(), pool.prewarm(), pool.recycle()]);
  await until(() => pool.stats().workers.total === 2);
  assert.ok(pool.threads.every((worker) => !before.includes(worker)));
  assert.equal(most, 3, 'one at a time is started in place of one');
  assert.equal(await pool.run(1), 1);
  await atRest(pool, 1);
});
