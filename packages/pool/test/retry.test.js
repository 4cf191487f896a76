// Tasks whose worker ends while they run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold, open, openStill, outcomes, repeat, shared, warm } from './support.js';

const ended = { code: 'MILLRACE_E_WORKER', message: /worker exited with code: 3/ };

test('by default one that had begun is not begun again', async (t) => {
  const pool = open(t);
  const runs = shared(1);
  await assert.rejects(pool.run({ deaths: 1, runs }, { name: 'attempt' }), ended);
  assert.equal(runs[0], 1);
  const { retried, crashed, failed } = pool.stats();
  assert.deepEqual([retried, crashed, failed], [0, 1, 1]);
  assert.equal(await pool.run({}, { name: 'attempt' }), 0);
});

test('with `retry` it is, so often, and knows the number of the attempt', async (t) => {
  const pool = open(t);
  const runs = shared(3);
  const call = (n, deaths, retry) => pool.run({ n, deaths, runs }, { name: 'attempt', retry });
  assert.deepEqual(await outcomes([call(0, 2, 2), call(1, 1, 5), call(2, 2, 1)]), [
    2,
    1,
    'MILLRACE_E_WORKER',
  ]);
  assert.deepEqual([...runs], [3, 2, 2]);
  const { retried, crashed, failed, completed } = pool.stats();
  assert.deepEqual(
    { retried, crashed, failed, completed },
    { retried: 4, crashed: 5, failed: 1, completed: 3 },
  );
});

test('the retry of the pool, and that of a call in its place', async (t) => {
  const pool = open(t, { retry: 1 });
  assert.equal(await pool.run({ deaths: 1 }, { name: 'attempt' }), 1);
  await assert.rejects(pool.run({ deaths: 1 }, { name: 'attempt', retry: 0 }), ended);
});

test('those that had not begun run elsewhere, in their order, once, without asking for it', async (t) => {
  const pool = openStill(t);
  const count = 40;
  const runs = shared(count);
  await warm(pool, 'attempt');
  const held = await hold(pool);
  const calls = repeat(count, (n) =>
    pool.run({ n, runs, deaths: n === 5 ? 1 : 0 }, { name: 'attempt' }),
  );
  held.release();
  const expected = repeat(count, (n) => (n === 5 ? 'MILLRACE_E_WORKER' : 0));
  assert.deepEqual(await outcomes(calls), expected);
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  const { requeued, stolen, crashed } = pool.stats();
  // Those behind a worker that takes its time to end are taken back before it has.
  assert.ok(requeued + stolen > 0 && requeued < count, `${requeued}, ${stolen}`);
  assert.equal(crashed, 1);
});

test('the data that has been moved cannot be sent again', async (t) => {
  const pool = open(t);
  const buffer = new ArrayBuffer(8);
  const call = pool.run(
    { deaths: 1, buffer },
    { name: 'attempt', retry: 3, transferList: [buffer] },
  );
  await assert.rejects(call, ended);
});

test('one that was aborted while its worker ended is not begun again', async (t) => {
  const pool = open(t);
  const runs = shared(1);
  const controller = new AbortController();
  const { signal } = controller;
  pool.once('workerDestroy', () => controller.abort());
  const call = pool.run({ deaths: 9, runs }, { name: 'attempt', retry: 1000, signal });
  await assert.rejects(call, { code: 'MILLRACE_E_ABORTED' });
  assert.equal(await pool.run(1), 1);
  assert.ok(runs[0] <= 2, `${runs[0]}`);
});
