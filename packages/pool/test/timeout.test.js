// The time that a task may run, counted from when it begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begins, hold, newGate, newLog, open, outcomes, repeat, shared, warm } from './support.js';

const late = { code: 'MILLRACE_E_TIMEOUT' };

test('time in the queue does not count, nor that of the tasks ahead', async (t) => {
  const pool = open(t);
  // Together longer than each may take, first here, then at the worker.
  const calls = repeat(6, () => pool.run(150, { name: 'sleep', timeout: 700 }));
  assert.deepEqual(
    await outcomes(calls),
    repeat(6, () => 'timed-out'),
  );
  assert.equal(pool.stats().timedOut, 0);
});

test('a task that runs for too long rejects, and its worker is replaced; those behind it run once', async (t) => {
  const pool = open(t);
  const runs = shared(30);
  await warm(pool, 'loopIf');
  const held = await hold(pool);
  const call = (n, options) =>
    pool.run({ n, runs, loops: n === 10 }, { name: 'loopIf', ...options });
  const calls = repeat(30, (n) => call(n, n === 10 ? { timeout: 30 } : {}));
  const [worker] = pool.threads;
  held.release();
  assert.deepEqual(
    await outcomes(calls),
    repeat(30, (n) => (n === 10 ? 'MILLRACE_E_TIMEOUT' : n)),
  );
  assert.deepEqual(
    [...runs],
    repeat(30, () => 1),
  );
  assert.notEqual(pool.threads[0], worker);
  const { timedOut, failed, crashed } = pool.stats();
  assert.deepEqual({ timedOut, failed, crashed }, { timedOut: 1, failed: 1, crashed: 0 });
});

test('the error says what it was', async (t) => {
  const pool = open(t, { timeout: 20 });
  await assert.rejects(pool.run({}, { name: 'loop' }), {
    ...late,
    name: 'MillraceError',
    message: /'loop'.*20 ms/,
  });
});

test('that of the pool, and that of a call in its place', async (t) => {
  const pool = open(t, { timeout: 30 });
  const gate = newGate();
  const begun = begins(pool, 'runs');
  const unlimited = pool.run({ say: 'runs', gate: gate.cell, n: 5 }, { name: 'task', timeout: 0 });
  await begun;
  await new Promise((resolve) => setTimeout(resolve, 80));
  gate.open();
  assert.equal(await unlimited, 5);
  await assert.rejects(pool.run({}, { name: 'loop' }), late);
});

test('a function that listens is notified, and its worker lives', async (t) => {
  const pool = open(t, { abortGrace: 60_000 });
  const [worker] = pool.threads;
  let calls = 0;
  for (const name of ['listen', 'signalled']) {
    let hasBegun = false;
    void begins(pool, name).then(() => {
      hasBegun = true;
    });
    // On a busy machine the time may be over before the worker has come so far.
    do {
      calls++;
      await assert.rejects(pool.run({ say: name }, { name, timeout: 200 }), late);
    } while (!hasBegun);
    assert.equal(await pool.run(name), name);
  }
  assert.deepEqual(pool.threads, [worker]);
  const { timedOut, completed } = pool.stats();
  assert.equal(timedOut, calls);
  assert.equal(completed, calls + 2);
});

test('each of several has its own', async (t) => {
  const pool = open(t, { maxThreads: 2, minThreads: 2 });
  const calls = [
    pool.run({}, { name: 'loop', timeout: 60 }),
    pool.run({}, { name: 'loop', timeout: 30 }),
    pool.run({ n: 3 }, { name: 'task', timeout: 60_000 }),
    pool.run({ n: 4 }, { name: 'task' }),
  ];
  assert.deepEqual(await outcomes(calls), ['MILLRACE_E_TIMEOUT', 'MILLRACE_E_TIMEOUT', 3, 4]);
});

test('with several tasks at a time, one with a limit runs alone: none beside it is lost', async (t) => {
  const pool = open(t, { concurrentTasksPerWorker: 3 });
  await warm(pool, 'asyncIf');
  const gate = newGate();
  const log = newLog(20);
  const runs = shared(20);
  const task = (n, more = {}) => ({ n, runs, log: log.cells, ...more });
  const begun = begins(pool, 'both');
  const before = [0, 1].map((n) =>
    pool.run(task(n, { gate: gate.cell, say: n === 1 ? 'both' : undefined }), { name: 'asyncIf' }),
  );
  await begun;
  const limited = pool.run(task(2, { loops: true }), { name: 'asyncIf', timeout: 30 });
  const after = [3, 4].map((n) => pool.run(task(n), { name: 'asyncIf' }));
  // Time for it to begin, if it does what it must not.
  await new Promise((resolve) => setTimeout(resolve, 60));
  gate.open();
  assert.deepEqual(await outcomes([...before, limited, ...after]), [
    0,
    1,
    'MILLRACE_E_TIMEOUT',
    3,
    4,
  ]);
  assert.deepEqual([...runs.subarray(0, 5)], [1, 1, 1, 1, 1]);
});

test('a limit that is over as the task ends: one answer', async (t) => {
  const pool = open(t, { abortGrace: 1 });
  const calls = repeat(30, (n) => pool.run(2, { name: 'sleep', timeout: 1 + (n % 3) }));
  const ended = await outcomes(calls);
  const others = ended.filter((each) => each !== 'timed-out' && each !== 'MILLRACE_E_TIMEOUT');
  assert.deepEqual(others, []);
  assert.equal(pool.completed, 30);
});
