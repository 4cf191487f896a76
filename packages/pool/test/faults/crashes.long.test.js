// Injected: workers that exit, throw from a timer, leave a rejection unhandled, exhaust their heap, loop for ever, are ended from outside,
// with hundreds of tasks in the batch behind. Counted: runs of each task. Lost may be what had begun, and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stillClock } from '../../../base/test/clocks.js';
import { stillWorkers } from '../support.js';
import { atRest, counters, holding, open, outcomes, repeat, until, warm } from './support.js';

const name = 'crash';
const count = 300;

const ways = {
  exit: 'worker exited with code: 7',
  timer: 'thrown by a timer',
  rejection: 'nobody handles it',
  heap: 'Worker terminated due to reaching memory limit',
};

for (const [how, message] of Object.entries(ways)) {
  test(`${how}: the task that did it fails, those behind it run elsewhere, once each`, async (t) => {
    const runs = counters(count);
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };
    const pool = open(t, { workerData: { runs }, resourceLimits });
    const before = await warm(pool, name, {});
    const culprit = 10;
    const calls = repeat(count, (n) => pool.run({ n, how: n === culprit ? how : null }, { name }));
    const settled = await Promise.allSettled(calls);
    for (const [n, { status, reason }] of settled.entries()) {
      if (n === culprit) {
        assert.equal(reason.code, 'MILLRACE_E_WORKER');
        assert.ok(reason.message.startsWith(message), reason.message);
        assert.match(reason.message, /the worker ended while the task ran/);
        assert.ok(reason.cause instanceof Error);
      } else if (how === 'heap' && status === 'rejected') {
        // It had ended, and its result was in the memory that is gone.
        assert.match(reason.message, /after the task had run/);
      } else assert.equal(status, 'fulfilled', reason?.message);
    }
    assert.deepEqual(
      [...runs],
      repeat(count, () => 1),
    );
    assert.equal(pool.stats().crashed, 1);
    await atRest(pool, before + count);
  });
}

test('one crash after another in one queue: whatever had not begun runs, once, however often its worker ends', async (t) => {
  const runs = counters(count);
  // All tasks are short ones, so that several go to a worker at once.
  stillClock(t);
  const pool = open(t, { workerData: { runs }, ...stillWorkers });
  const before = await warm(pool, name, {});
  // More often than a task would be sent again if it were at fault.
  const isCulprit = (n) => n % 25 === 5;
  const calls = repeat(count, (n) => pool.run({ n, how: isCulprit(n) ? 'exit' : null }, { name }));
  const culprits = calls.filter((_, n) => isCulprit(n));
  const others = calls.filter((_, n) => !isCulprit(n));
  const [bad, good] = await Promise.all([outcomes(culprits), outcomes(others)]);
  assert.deepEqual(bad, { MILLRACE_E_WORKER: culprits.length });
  assert.deepEqual(good, { ok: others.length });
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  assert.ok(pool.stats().requeued > 0, 'nothing stood behind them');
  await atRest(pool, before + count);
});

test('all workers end at once, again and again: what had not begun runs, once', async (t) => {
  const runs = counters(count);
  const pool = open(t, { workerData: { runs }, minThreads: 2 });
  const before = await warm(pool, name, {});
  const rounds = [];
  // Not more often than a task may come back from workers that had no time to begin it.
  for (let round = 0; round < 3; round++) {
    await pool.prewarm();
    const first = (round * count) / 3;
    rounds.push(Promise.allSettled(repeat(count / 3, (n) => pool.run({ n: first + n }, { name }))));
    await Promise.all(pool.threads.map((worker) => worker.terminate()));
  }
  const lost = [];
  for (const [n, { reason }] of (await Promise.all(rounds)).flat().entries()) {
    if (reason === undefined) assert.equal(runs[n], 1);
    else lost.push(reason.message);
  }
  assert.equal(Math.max(...runs), 1);
  // One in each worker may have been about to call its function.
  const running = lost.filter((message) => message.includes('while the task ran'));
  const done = lost.filter((message) => message.includes('after the task had run'));
  assert.ok(running.length <= 6, `${running.length}`);
  assert.equal(running.length + done.length, lost.length, 'lost before they began');
  await atRest(pool, before + count);
});

test('a task that is retried: begins again as often as it may, and knows its attempt', async (t) => {
  const runs = counters(3);
  const pool = open(t, { workerData: { runs }, maxThreads: 1 });
  const once = { name: 'crashOnce', retry: 1 };
  assert.equal(await pool.run({ n: 0 }, once), 1);
  await assert.rejects(pool.run({ n: 1, how: 'exit' }, { name, retry: 2 }), {
    code: 'MILLRACE_E_WORKER',
  });
  await assert.rejects(pool.run({ n: 2 }, { name: 'crashOnce' }), { code: 'MILLRACE_E_WORKER' });
  assert.deepEqual([...runs], [2, 3, 1]);
  assert.equal(pool.stats().retried, 3);
  await atRest(pool, 3);
});

test('data moved to a worker that ends is lost with it: its call fails and says so', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const before = await warm(pool, 'default', 1);
  const buffer = new ArrayBuffer(8);
  const { signal } = new AbortController();
  const calls = [
    pool.run({ how: 'exit' }, { name }),
    pool.run(buffer, { transferList: [buffer], signal, retry: 5 }),
    pool.run(1),
  ];
  const [crashed, moved, echo] = await Promise.allSettled(calls);
  assert.equal(crashed.reason.code, 'MILLRACE_E_WORKER');
  assert.ok(moved.status === 'fulfilled' || /lost with it/.test(moved.reason.message));
  assert.equal(echo.value, 1);
  await atRest(pool, before + 3);
});

test('a loop without end: its timeout ends the worker, those behind it run elsewhere', async (t) => {
  const runs = counters(count);
  const pool = open(t, { workerData: { runs }, maxThreads: 1 });
  const before = await warm(pool, 'count');
  const loop = pool.run(0, { name: 'loop', timeout: 50 });
  const calls = repeat(count, (n) => pool.run(n, { name: 'count' }));
  await assert.rejects(loop, { code: 'MILLRACE_E_TIMEOUT' });
  assert.deepEqual(await outcomes(calls), { ok: count });
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  const { timedOut, crashed } = pool.stats();
  assert.deepEqual({ timedOut, crashed }, { timedOut: 1, crashed: 0 });
  await atRest(pool, before + count + 1);
});

test('a loop without end in each worker, aborted: the workers are replaced', async (t) => {
  const pool = open(t, { minThreads: 2 });
  const controller = new AbortController();
  const { signal } = controller;
  const loops = await holding(pool, 2, () =>
    repeat(2, (n) => pool.run(n, { name: 'loop', signal })),
  );
  const waiting = repeat(20, (n) => pool.run(n));
  controller.abort();
  assert.deepEqual(await outcomes(loops), { MILLRACE_E_ABORTED: 2 });
  assert.deepEqual(await outcomes(waiting), { ok: 20 });
  await until(() => pool.stats().workers.total === 2);
  await atRest(pool, 22);
});

test('several at a time in a worker: those that ran beside the one that ended it fail, no other', async (t) => {
  const runs = counters(40);
  const pool = open(t, { workerData: { runs }, maxThreads: 1, concurrentTasksPerWorker: 4 });
  const calls = repeat(40, (n) => pool.run({ n, how: n === 20 ? 'timer' : null }, { name }));
  const { ok, MILLRACE_E_WORKER: lost } = await outcomes(calls);
  assert.ok(lost >= 1 && lost <= 4, `${lost}`);
  assert.equal(ok + lost, 40);
  assert.deepEqual(
    [...runs],
    repeat(40, () => 1),
  );
  await atRest(pool, 40);
});

test('several at a time in a worker, and a file that loads late: no more run beside one another', async (t) => {
  const runs = counters(2);
  const pool = open(t, { workerData: { runs }, maxThreads: 1, concurrentTasksPerWorker: 2 });
  await pool.run(0);
  const late = new URL('./late.js', import.meta.url);
  const calls = repeat(60, (n) =>
    n === 1 ? pool.run(n, { filename: late }) : pool.run(n === 0 ? 150 : 2, { name: 'beside' }),
  );
  assert.deepEqual(await outcomes(calls), { ok: 60 });
  assert.equal(runs[1], 2);
  await atRest(pool, 61);
});

test('a task that never ends beside thousands that do, in one worker: they run, and it goes with its worker', async (t) => {
  const count = 3_000;
  const runs = counters(count);
  const pool = open(t, { workerData: { runs }, maxThreads: 1, concurrentTasksPerWorker: 4 });
  const never = outcomes(repeat(2, () => pool.run(0, { name: 'pending' })));
  assert.deepEqual(await outcomes(repeat(count, (n) => pool.run(n, { name: 'count' }))), {
    ok: count,
  });
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  assert.equal(pool.stats().running, 2);
  const calls = [pool.run({ how: 'exit' }, { name: 'crash' }), pool.run(1)];
  const { MILLRACE_E_WORKER: lost } = await outcomes(calls);
  assert.ok(lost >= 1);
  assert.deepEqual(await never, { MILLRACE_E_WORKER: 2 });
  await atRest(pool, count + 4);
});
