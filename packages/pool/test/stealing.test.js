// Tasks behind one that takes long are run by a worker that has nothing to do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begins, hold, newGate, open, outcomes, repeat, shared, until, warm } from './support.js';

/** Two workers: one is held, and all that comes is behind a long task of the other. */
async function stuck(t, { count, options, task = (n) => ({ n }), call = () => ({}) }) {
  const pool = open(t, { minThreads: 2, maxThreads: 2, ...options });
  await pool.prewarm();
  await warm(pool, 'task');
  const before = pool.completed;
  const free = await hold(pool);
  const gate = newGate();
  const begun = begins(pool, 'long');
  const long = pool.run({ say: 'long', gate: gate.cell, n: -1 }, { name: 'task' });
  await begun;
  const calls = repeat(count, (n) => {
    const argument = task(n);
    return pool.run(argument, { name: 'task', ...call(argument) });
  });
  await until(() => pool.stats().queued.ahead > 0);
  return { pool, before, free, long, gate, calls };
}

test('all of them, each once', async (t) => {
  const count = 60;
  const runs = shared(count);
  const task = (n) => ({ n, runs });
  const { pool, before, free, long, gate, calls } = await stuck(t, { count, task });
  const { stolen, queued } = pool.stats();
  assert.equal(stolen, 0);
  assert.ok(queued.ahead > 0);
  free.release();
  const numbers = repeat(count, (n) => n);
  assert.deepEqual(await outcomes(calls), numbers);
  assert.equal(pool.stats().running, 1);
  assert.equal(pool.stats().stolen, queued.ahead);
  gate.open();
  assert.equal(await long, -1);
  assert.ok(runs.every((times) => times === 1));
  const { completed, failed, running, queued: left, requeued } = pool.stats();
  assert.deepEqual([failed, running, left.total, requeued], [0, 0, 0, 0]);
  assert.equal(completed, before + 1 + 1 + count);
});

test('a single one', async (t) => {
  const { free, long, gate, calls } = await stuck(t, { count: 1 });
  free.release();
  assert.deepEqual(await outcomes(calls), [0]);
  gate.open();
  assert.equal(await long, -1);
});

test('those that move their data are not sent ahead: they could not be taken back', async (t) => {
  const task = (n) => ({ n, buffer: n % 2 ? new ArrayBuffer(8) : null });
  const call = ({ buffer }) => (buffer ? { transferList: [buffer] } : {});
  const count = 8;
  const { free, long, gate, calls } = await stuck(t, { count, task, call });
  free.release();
  const numbers = repeat(count, (n) => n);
  // The one that is stuck has none of them.
  assert.deepEqual(await outcomes(calls), numbers);
  gate.open();
  assert.equal(await long, -1);
});

test('nothing was sent, nothing is stolen: maxBatch 1', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, maxBatch: 1 });
  await pool.prewarm();
  await warm(pool, 'task');
  const gate = newGate();
  const begun = begins(pool, 'long');
  const long = pool.run({ say: 'long', gate: gate.cell }, { name: 'task' });
  await begun;
  assert.deepEqual(
    await outcomes(repeat(30, (n) => pool.run({ n }, { name: 'task' }))),
    repeat(30, (n) => n),
  );
  gate.open();
  await long;
  assert.equal(pool.stats().stolen, 0);
});

test('beside others, with several at a time', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 2 });
  await pool.prewarm();
  await warm(pool, 'holdBeside');
  const runs = shared(40);
  const gate = newGate();
  const messages = begins(pool, 'fourth');
  const held = repeat(4, (n) =>
    pool.run({ n, gate: gate.cell, say: n === 3 ? 'fourth' : undefined }, { name: 'holdBeside' }),
  );
  await messages;
  const calls = repeat(40, (n) => pool.run({ n, runs }, { name: 'holdBeside' }));
  await until(() => pool.stats().queued.total === 40);
  gate.open();
  assert.deepEqual(await outcomes([...held, ...calls]), [
    ...repeat(4, (n) => n),
    ...repeat(40, (n) => n),
  ]);
  assert.deepEqual(
    [...runs],
    repeat(40, () => 1),
  );
});

test('another worker is started for those that stand behind a task which waits for them', async (t) => {
  const pool = open(t, { maxThreads: 4 });
  await warm(pool, 'task');
  assert.equal(pool.threads.length, 1, 'short tasks need no other');
  const gate = newGate();
  const begun = begins(pool, 'long');
  const long = pool.run({ say: 'long', gate: gate.cell, n: -1 }, { name: 'task' });
  await begun;
  const behind = pool.run({ n: 1 }, { name: 'task' });
  await until(() => pool.stats().queued.ahead > 0);
  assert.equal(await behind, 1);
  assert.equal(pool.threads.length, 2, 'one is enough, however long it takes to start');
  gate.open();
  assert.equal(await long, -1);
});
