// close() and destroy(): each call is answered once, and no worker stays.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { begins, hold, newGate, open, outcomes, repeat, shared, warm } from './support.js';

const closed = 'MILLRACE_E_CLOSED';

/** A promise hides a second answer; this does not. */
const answered = (pool) => pool.stats().completed;

test('close() waits for what was called before it, and refuses the rest', async (t) => {
  const pool = open(t);
  const held = await hold(pool);
  const calls = repeat(20, (n) => pool.run({ n }, { name: 'task' }));
  const workers = pool.threads;
  const event = once(pool, 'close');
  const end = pool.close();
  await assert.rejects(pool.run(1), { code: closed, name: 'AbortError' });
  held.release();
  assert.deepEqual(await outcomes([held.ended, ...calls]), [0, ...repeat(20, (n) => n)]);
  await Promise.all([end, event]);
  assert.equal(answered(pool), 21);
  assert.deepEqual(pool.threads, []);
  for (const { threadId } of workers) assert.equal(threadId, -1);
  await assert.rejects(pool.run(1), { code: closed });
});

test('close({ force: true }) rejects what has not begun, here and at the worker', async (t) => {
  const pool = open(t);
  await warm(pool, 'task');
  const before = answered(pool);
  const gate = newGate();
  const runs = shared(30);
  const begun = begins(pool, 'runs');
  const first = pool.run({ say: 'runs', gate: gate.cell, n: 29, runs }, { name: 'task' });
  await begun;
  const calls = repeat(29, (n) => pool.run({ n, runs }, { name: 'task' }));
  await new Promise((resolve) => setImmediate(resolve));
  const end = pool.close({ force: true });
  // While the worker is held.
  assert.deepEqual(
    await outcomes(calls),
    repeat(29, () => closed),
  );
  gate.open();
  assert.equal(await first, 29);
  await end;
  assert.deepEqual([...runs], [...repeat(29, () => 0), 1]);
  assert.equal(answered(pool), before + 30);
});

test('closeTimeout: what runs for longer is ended, and said', async (t) => {
  const pool = open(t, { closeTimeout: 20 });
  const error = once(pool, 'error');
  const begun = begins(pool, 'loops');
  const call = pool.run({ say: 'loops' }, { name: 'loop' });
  const waiting = pool.run(1);
  await begun;
  const end = pool.close();
  assert.deepEqual(await outcomes([call, waiting]), [closed, closed]);
  assert.equal((await error)[0].code, 'MILLRACE_E_TIMEOUT');
  await end;
  assert.equal(answered(pool), 2);
});

test('destroy() with tasks that run, wait, were sent ahead, and whose data was moved', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 2 });
  await pool.prewarm();
  await warm(pool, 'holdBeside');
  const before = answered(pool);
  const gate = newGate();
  const count = 200;
  const calls = repeat(count, (n) => {
    const buffer = new ArrayBuffer(1);
    const options = n % 7 === 0 ? { transferList: [buffer] } : {};
    const argument = { gate: gate.cell, n, buffer };
    return pool.run(argument, { name: 'holdBeside', ...options });
  });
  calls.push(
    pool.run(1, { signal: new AbortController().signal }),
    pool.run(1, { timeout: 600_000 }),
  );
  const workers = pool.threads;
  const ended = outcomes(calls);
  await pool.destroy();
  assert.deepEqual(
    await ended,
    repeat(count + 2, () => closed),
  );
  for (const { threadId } of workers) assert.equal(threadId, -1);
  const { completed, running, queued, workers: left } = pool.stats();
  assert.deepEqual(
    { completed, running, queued: queued.total, left: left.total },
    { completed: before + count + 2, running: 0, queued: 0, left: 0 },
  );
});

test('destroy() twice, and a close() before it: all wait until the workers have ended', async (t) => {
  for (const ends of [
    (pool) => pool.destroy(),
    (pool) => pool.close(),
    (pool) => pool[Symbol.asyncDispose](),
  ]) {
    const pool = open(t);
    const begun = begins(pool, 'loops');
    const call = pool.run({ say: 'loops' }, { name: 'loop' });
    await begun;
    const [worker] = pool.threads;
    const first = ends(pool);
    const second = pool.destroy();
    assert.deepEqual(await outcomes([call]), [closed]);
    await second;
    assert.equal(worker.threadId, -1);
    await first;
  }
});

test('destroy() waits for a worker, too, that is being ended for its task', async (t) => {
  const pool = open(t);
  const [worker] = pool.threads;
  await assert.rejects(pool.run({}, { name: 'loop', timeout: 5 }), { code: 'MILLRACE_E_TIMEOUT' });
  await pool.destroy();
  assert.equal(worker.threadId, -1);
});

test('destroy() while workers start, are replaced, and are waited for', async (t) => {
  const pool = open(t, { maxThreads: 3 });
  const waits = [pool.prewarm(), pool.recycle(), pool.run(1), pool.close()];
  const ended = outcomes(waits);
  await pool.destroy();
  const [, , call, close] = await ended;
  assert.equal(call, closed);
  assert.equal(close, undefined);
  assert.deepEqual(pool.threads, []);
});

test('close() of a pool that has nothing to do; and twice', async (t) => {
  const pool = open(t);
  let events = 0;
  pool.on('close', () => events++);
  await Promise.all([pool.close(), pool.close()]);
  await pool.close();
  assert.equal(events, 1);
});

test('close({ force: true }) after close()', async (t) => {
  const pool = open(t);
  const held = await hold(pool);
  const waiting = pool.run(1);
  const end = pool.close();
  const forced = pool.close({ force: true });
  assert.deepEqual(await outcomes([waiting]), [closed]);
  held.release();
  await Promise.all([end, forced]);
  assert.equal(await held.ended, 0);
});
