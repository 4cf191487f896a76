// The time that a task may run, counted from when it begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performance, stillClock } from '../../base/test/clocks.js';
import { settingsOf } from '../dist/options.js';
import { FairQueue } from '../dist/queue.js';
import { Scheduler } from '../dist/scheduler.js';
import { Functions, Task } from '../dist/task.js';
import {
  begins,
  hold,
  newGate,
  newLog,
  open,
  outcomes,
  repeat,
  shared,
  stillWorkers,
  tasks,
  until,
  warm,
} from './support.js';

const late = { code: 'MILLRACE_E_TIMEOUT' };

/**
 * What a pool is without its interface, with one worker. `pass(ms)` moves the clock of this thread on, and looks at the limits; that of the
 * worker moves when its tasks do that.
 */
async function withClocks(t) {
  const clock = stillClock(t);
  const options = { filename: tasks, minThreads: 1, maxThreads: 1, ...stillWorkers };
  const settings = settingsOf(options);
  const messages = [];
  const scheduler = new Scheduler(settings, new FairQueue(settings.aging), {
    emit: (event, value) => event === 'message' && messages.push(value),
    allocated() {},
  });
  t.after(() => scheduler.destroy());
  const of = new Functions().get(settings.filename, 'lasts');
  const none = { transferList: [], signal: null, retriesLeft: 0, id: null, delivery: null };
  const run = (task, timeoutMs) =>
    new Promise((resolve, reject) => {
      const extras = { ...none, timeoutMs, unlisten: null, givenUp: null };
      scheduler.submit(new Task(of, task, 1, performance.now(), resolve, reject, extras));
    });
  // Now it is known to be short, so that others are sent ahead; and both clocks say the same.
  await run({}, 0);
  const [thread] = scheduler.workers.threads;
  clock.pass(thread.board.startedMs[0] - performance.now());
  const pass = (ms) => {
    clock.pass(ms);
    thread.watchTimeouts();
  };
  return { run, pass, begins: (what) => until(() => messages.includes(what)), scheduler };
}

test('time in the queue does not count, nor that of the tasks ahead', async (t) => {
  const { run, pass, begins, scheduler } = await withClocks(t);
  const gates = repeat(6, newGate);
  // Together longer than each may take.
  const calls = gates.map(({ cell }, n) => run({ n, say: n, gate: cell, ms: 40 }, 50));
  await begins(0);
  const { queued } = scheduler.stats();
  assert.ok(queued.ahead > 0 && queued.normal > 0, 'some wait at the worker, some here');
  for (const [n, call] of calls.entries()) {
    await begins(n);
    pass(40);
    gates[n].open();
    assert.equal(await call, n);
  }
  assert.equal(scheduler.stats().timedOut, 0);
  const longer = run({ n: 6, say: 6, gate: newGate().cell }, 50);
  await begins(6);
  pass(49);
  assert.equal(scheduler.stats().timedOut, 0);
  pass(2);
  await assert.rejects(longer, late);
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
  const pool = open(t, { abortGrace: 600_000 });
  let calls = 0;
  for (const name of ['listen', 'signalled']) {
    let worker;
    let hasBegun = false;
    // On a busy machine the time may be over before the function listens; then its worker has ended.
    while (!hasBegun) {
      [worker] = pool.threads;
      const say = `${name} ${calls++}`;
      void begins(pool, say).then(() => {
        hasBegun = true;
      });
      await assert.rejects(pool.run({ say }, { name, timeout: 200 }), late);
    }
    assert.equal(await pool.run(name), name);
    assert.deepEqual(pool.threads, [worker]);
  }
  const { timedOut, completed } = pool.stats();
  assert.equal(timedOut, calls);
  assert.equal(completed, calls + 2);
});

test('each of several has its own', async (t) => {
  const pool = open(t, { maxThreads: 2, minThreads: 2 });
  const calls = [
    pool.run({}, { name: 'loop', timeout: 60 }),
    pool.run({}, { name: 'loop', timeout: 30 }),
    pool.run({ n: 3 }, { name: 'task', timeout: 600_000 }),
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
  const calls = repeat(12, (n) => pool.run(2, { name: 'sleep', timeout: 1 + (n % 3) }));
  const ended = await outcomes(calls);
  const others = ended.filter((each) => each !== 'timed-out' && each !== 'MILLRACE_E_TIMEOUT');
  assert.deepEqual(others, []);
  assert.equal(pool.completed, 12);
});
