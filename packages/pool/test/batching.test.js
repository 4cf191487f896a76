// What is sent at once, and what together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  begins,
  hold,
  newGate,
  newLog,
  open,
  openStill,
  outcomes,
  repeat,
  shared,
  warm,
} from './support.js';

/** Blocks this thread until tasks have counted to `count`; false if they do not in five minutes. */
function blockedUntil(runs, count) {
  const never = shared(1);
  for (let ms = 0; Atomics.load(runs, 0) < count; ms++) {
    if (ms === 300_000) return false;
    Atomics.wait(never, 0, 0, 1);
  }
  return true;
}

test('a call begins while the program that made it blocks its thread', async (t) => {
  const pool = open(t);
  const runs = shared(1);
  // Its worker starts meanwhile.
  const cold = pool.run({ runs }, { name: 'task' });
  assert.ok(blockedUntil(runs, 1), 'the first call of a new pool');
  await cold;
  const second = pool.run({ runs }, { name: 'task' });
  assert.ok(blockedUntil(runs, 2), 'a call of a pool that has nothing to do');
  await second;
});

test('so do as many as there are workers', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2 });
  await pool.prewarm();
  const runs = shared(1);
  const gate = newGate();
  const calls = repeat(2, () => pool.run({ runs, gate: gate.cell }, { name: 'task' }));
  assert.ok(blockedUntil(runs, 2));
  gate.open();
  await Promise.all(calls);
});

test('also in a turn in which many results have come', async (t) => {
  // That turn is not over before the call is made, however long it takes.
  const pool = openStill(t);
  const runs = shared(1);
  await warm(pool, 'task', { runs });
  const held = await hold(pool);
  const calls = repeat(64, () => pool.run({ runs }, { name: 'task' }));
  held.release();
  await Promise.all(calls);
  const before = runs[0];
  const call = pool.run({ runs }, { name: 'task' });
  assert.ok(blockedUntil(runs, before + 1));
  await call;
});

test('waiting tasks leave together, whichever microtask of the turn made the call', async (t) => {
  const pool = openStill(t);
  await warm(pool, 'task');
  const held = await hold(pool);
  const { batches } = pool.stats();
  const calls = [];
  for (let n = 0; n < 100; n++) {
    calls.push(pool.run({ n }, { name: 'task' }));
    await null;
  }
  held.release();
  assert.deepEqual(
    await outcomes(calls),
    repeat(100, (n) => n),
  );
  const sent = pool.stats().batches - batches;
  // Each is half of what waits.
  assert.ok(sent <= 10, `${sent} batches`);
  const { batches: all, meanBatch, completed } = pool.stats();
  assert.equal(Math.round(meanBatch * all), completed);
});

test('calls after many results leave together, too', async (t) => {
  const pool = openStill(t);
  await warm(pool, 'task');
  const rounds = 8;
  const lanes = 64;
  const { batches } = pool.stats();
  await Promise.all(
    repeat(lanes, async () => {
      for (let n = 0; n < rounds; n++) await pool.run({}, { name: 'task' });
    }),
  );
  const sent = pool.stats().batches - batches;
  // A busy machine lets a worker run with what has come so far.
  assert.ok(sent <= (rounds * lanes) / 2, `${sent} batches`);
});

test('maxBatch: 1: a worker has no more than it can run', async (t) => {
  for (const concurrentTasksPerWorker of [1, 3]) {
    const pool = open(t, { maxBatch: 1, concurrentTasksPerWorker });
    await warm(pool, 'holdBeside');
    const gate = newGate();
    const begun = begins(pool, 'begun');
    const calls = repeat(100, (n) =>
      pool.run({ n, gate: gate.cell, say: 'begun' }, { name: 'holdBeside' }),
    );
    await begun;
    const { running, queued } = pool.stats();
    assert.equal(running, concurrentTasksPerWorker);
    assert.deepEqual(
      { ahead: queued.ahead, waiting: queued.normal },
      { ahead: 0, waiting: 100 - concurrentTasksPerWorker },
    );
    gate.open();
    assert.deepEqual(
      await outcomes(calls),
      repeat(100, (n) => n),
    );
    const { batches, meanBatch, completed } = pool.stats();
    assert.deepEqual([batches, meanBatch], [completed, 1]);
  }
});

test('maxBatch is a bound', async (t) => {
  const pool = open(t, { maxBatch: 7 });
  await warm(pool, 'task');
  const held = await hold(pool);
  const { batches } = pool.stats();
  const calls = repeat(100, () => pool.run({}, { name: 'task' }));
  held.release();
  await Promise.all(calls);
  assert.ok(pool.stats().batches - batches >= Math.ceil(100 / 7));
});

test('of a function of which nothing is known no task waits behind another while a worker is free', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2 });
  await pool.prewarm();
  const gate = newGate();
  const held = pool.run({ gate: gate.cell }, { name: 'other' });
  const calls = repeat(20, (n) => pool.run({ n }, { name: 'other' }));
  assert.deepEqual(
    await outcomes(calls),
    repeat(20, (n) => n),
  );
  gate.open();
  await held;
});

test('one worker runs the tasks of a function in the order of the calls', async (t) => {
  const pool = open(t);
  const count = 5000;
  const log = newLog(count);
  const calls = repeat(count, (n) => pool.run({ n, log: log.cells }, { name: 'task' }));
  const numbers = repeat(count, (n) => n);
  assert.deepEqual(await outcomes(calls), numbers);
  assert.deepEqual(log.entries(), numbers);
});

test('a deep queue: each runs once, and its own result comes back', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2 });
  const count = 20_000;
  const runs = shared(count);
  const calls = repeat(count, (n) => pool.run({ n, runs }, { name: n % 3 ? 'task' : 'other' }));
  assert.deepEqual(
    await outcomes(calls),
    repeat(count, (n) => n),
  );
  assert.ok(runs.every((times) => times === 1));
  const { meanBatch } = pool.stats();
  assert.ok(meanBatch > 4, `${meanBatch} in a batch`);
});
