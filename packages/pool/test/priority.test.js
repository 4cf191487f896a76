// The order in which one worker begins what waits.
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
  until,
  warm,
} from './support.js';

/** Calls that wait behind one that is held, and the order in which they have begun then. */
async function orderOf(pool, calls) {
  const log = newLog(1000);
  const held = await hold(pool);
  const made = await calls((n, options) =>
    pool.run({ n, log: log.cells }, { name: 'task', ...options }),
  );
  held.release();
  await Promise.all(made);
  return log.entries();
}

const priorities = ['low', 'normal', 'high'];

test('high before normal before low, whether their function is known or not', async (t) => {
  const pool = openStill(t);
  const expected = [2, 5, 8, 1, 4, 7, 0, 3, 6];
  const calls = (run) => repeat(9, (n) => run(n, { priority: priorities[n % 3] }));
  assert.deepEqual(await orderOf(pool, calls), expected);
  await warm(pool, 'task');
  assert.deepEqual(await orderOf(pool, calls), expected);
});

test('a call without one has that of the pool', async (t) => {
  const pool = openStill(t, { priority: 'low' });
  const order = await orderOf(pool, (run) => [
    run(0),
    run(1, { priority: 'normal' }),
    run(2, { priority: 'low' }),
  ]);
  assert.deepEqual(order, [1, 0, 2]);
});

test('tasks that have waited for long get every fourth turn', async (t) => {
  const pool = open(t, { aging: 5, maxBatch: 1 });
  const order = await orderOf(pool, async (run) => {
    const old = [run(0, { priority: 'low' }), run(1, { priority: 'low' })];
    const created = performance.now();
    await until(() => performance.now() - created > 20);
    return [...old, ...repeat(5, (n) => run(n + 2, { priority: 'high' }))];
  });
  assert.deepEqual(order, [0, 2, 3, 4, 1, 5, 6]);
});

test('without aging worth the name it does not', async (t) => {
  const pool = open(t, { aging: 2 ** 31 - 1 });
  const order = await orderOf(pool, async (run) => {
    const old = run(0, { priority: 'low' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [old, run(1, { priority: 'high' })];
  });
  assert.deepEqual(order, [1, 0]);
});

test('stricterFIFO: the order of the calls, and nothing else', async (t) => {
  const pool = open(t, { stricterFIFO: true });
  const order = await orderOf(pool, (run) =>
    repeat(30, (n) => run(n, { priority: priorities[n % 3], name: n % 2 ? 'task' : 'other' })),
  );
  assert.deepEqual(
    order,
    repeat(30, (n) => n),
  );
});

test('calls of a short function do not wait for all of a long one', async (t) => {
  const pool = openStill(t);
  await warm(pool, 'task');
  // 20 ms each, and known to be.
  for (let n = 0; n < 3; n++) await pool.run({ ms: 20 }, { name: 'lasts' });
  const log = newLog(1000);
  const held = await hold(pool);
  const long = repeat(10, () => pool.run({ ms: 20 }, { name: 'lasts' }));
  const short = repeat(10, (n) => pool.run({ n, log: log.cells }, { name: 'task' }));
  held.release();
  let ended = 0;
  for (const each of long) each.then(() => ended++);
  await Promise.all(short);
  assert.ok(ended <= 2, `${ended} long ones came first`);
  assert.equal(log.entries().length, 10);
  await Promise.all(long);
});

test('stats() tells what waits by priority', async (t) => {
  const pool = open(t);
  const held = await hold(pool);
  const calls = repeat(6, (n) =>
    pool.run({ n }, { name: 'task', priority: priorities[n < 3 ? 0 : n < 5 ? 1 : 2] }),
  );
  assert.deepEqual(pool.stats().queued, { high: 1, normal: 2, low: 3, ahead: 0, total: 6 });
  assert.equal(pool.queueSize, 6);
  assert.equal(pool.stats().running, 1);
  held.release();
  await outcomes(calls);
});

test('a call of high priority overtakes those that wait here, not those that were sent', async (t) => {
  const pool = openStill(t, { maxBatch: 1 });
  await warm(pool, 'task');
  const log = newLog(20);
  const gate = newGate();
  const begun = begins(pool, 'runs');
  const first = pool.run({ gate: gate.cell, say: 'runs' }, { name: 'task' });
  await begun;
  const rest = repeat(5, (n) => pool.run({ n, log: log.cells }, { name: 'task' }));
  await new Promise((resolve) => setImmediate(resolve));
  const urgent = pool.run({ n: 9, log: log.cells }, { name: 'task', priority: 'high' });
  gate.open();
  await Promise.all([first, urgent, ...rest]);
  assert.deepEqual(log.entries(), [9, 0, 1, 2, 3, 4]);
});
