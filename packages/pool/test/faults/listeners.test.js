// Injected: calls, closes and errors in the listeners of each event of a pool. Counted: calls that were answered, errors that reached the
// process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { atRest, counters, open, outcomes, repeat, until } from './support.js';

const events = [
  'workerCreate',
  'workerDestroy',
  'allocation',
  'drain',
  'needsDrain',
  'message',
  'error',
];

/** Calls of every kind, and a worker that ends, so that each event happens. */
function turmoil(pool, count) {
  return [
    ...repeat(count, (n) => pool.run(n, { name: 'count' })),
    pool.run({ how: 'timer' }, { name: 'crash' }),
    pool.run('posts what nobody asked for', { name: 'sabotages' }),
    pool.run(0, { name: 'loop', timeout: 5 }),
  ];
}

const turmoilEnds = (count) => ({ ok: count + 1, MILLRACE_E_WORKER: 1, MILLRACE_E_TIMEOUT: 1 });

test('calls in the listeners of each event', async (t) => {
  const runs = counters(200);
  const pool = open(t, { workerData: { runs } });
  const inner = [];
  const seen = new Set();
  // No more calls: what there is is counted, and the end of the pool is an event of its own, which answers none.
  let isOver = false;
  for (const event of events) {
    pool.on(event, () => {
      seen.add(event);
      // One may be with the worker that is ended below.
      const call = () => pool.run(1, { timeout: 600_000, retry: 3 });
      if (inner.length < 50 && !isOver) inner.push(call(), call());
    });
  }
  assert.deepEqual(await outcomes(turmoil(pool, 200)), turmoilEnds(200));
  const allAnswered = () => until(() => pool.completed === 203 + inner.length);
  await allAnswered();
  // An error of a worker without tasks; a call of a listener may come to it before it has ended.
  while (!seen.has('error')) {
    await until(() => pool.stats().workers.ready > 0 && pool.stats().workers.busy === 0);
    const gone = once(pool, 'workerDestroy');
    pool.threads[0].emit('error', new Error('injected'));
    await pool.threads[0].terminate();
    await gone;
  }
  isOver = true;
  await allAnswered();
  assert.deepEqual(await outcomes(inner), { ok: inner.length });
  assert.deepEqual([...seen].sort(), [...events].sort());
  assert.deepEqual(
    [...runs],
    repeat(200, () => 1),
  );
  await atRest(pool, 203 + inner.length);
});

for (const event of ['workerCreate', 'workerDestroy', 'allocation', 'needsDrain', 'message']) {
  test(`the end of the pool in a listener of '${event}': each call is answered once`, async (t) => {
    const runs = counters(200);
    const pool = open(t, { minThreads: 0, workerData: { runs } });
    let ended;
    pool.once(event, () => {
      ended = pool.destroy();
    });
    const calls = turmoil(pool, 200);
    const { ok = 0, MILLRACE_E_CLOSED: closed = 0, ...others } = await outcomes(calls);
    const { MILLRACE_E_WORKER: crashed = 0, MILLRACE_E_TIMEOUT: late = 0 } = others;
    assert.equal(ok + closed + crashed + late, 203);
    // The first ones come before there is a result; with the others all may have been answered.
    assert.ok(closed > 0 || event === 'workerDestroy' || event === 'message');
    await ended;
    assert.ok(Math.max(...runs) <= 1);
    // Calls that come after the end are not counted.
    assert.ok(pool.completed <= 203);
    await atRest(pool, pool.completed);
  });
}

test('listeners that throw: the process hears of each error, and no call is lost', async () => {
  const program = fileURLToPath(new URL('./listeners-process.js', import.meta.url));
  const child = spawn(process.execPath, [program, ...events], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = [];
  for await (const [line] of on(child.stdout, 'data', { close: ['end'] })) lines.push(line);
  const { answered, uncaught } = JSON.parse(lines.join(''));
  assert.deepEqual(answered, turmoilEnds(200));
  assert.deepEqual(new Set(uncaught), new Set(events.map((event) => `in ${event}`)));
});
