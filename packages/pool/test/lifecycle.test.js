// Workers that start, are replaced, and end, while tasks run: none is lost, none runs twice.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { atRest, hold, open, outcomes, repeat, shared, until, warm } from './support.js';

/** Keeps the pool busy until it is told to stop; then says that each task has run once. */
function load(pool) {
  const size = 10_000;
  // However many there are, as a worker may take its time to start: of `size` tasks one counts in each place.
  const runs = shared(size);
  let next = 0;
  let goes = true;
  const lane = async () => {
    while (goes) {
      const number = next++;
      const n = number % size;
      assert.equal(await pool.run({ n, runs }, { name: 'task' }), n);
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const lanes = Promise.all(repeat(40, lane));
  return async () => {
    goes = false;
    await lanes;
    const rounds = Math.floor(next / size);
    assert.ok(runs.every((times, n) => times === rounds + (n < next % size ? 1 : 0)));
    const { completed, failed, retried } = pool.stats();
    assert.deepEqual({ failed, retried }, { failed: 0, retried: 0 });
    assert.equal(completed, next);
  };
}

const ids = (pool) => pool.threads.map(({ threadId }) => threadId);

test('prewarm(): so many workers that have loaded the file; at most as many as there may be', async (t) => {
  const pool = open(t, { maxThreads: 3, idleTimeout: Number.POSITIVE_INFINITY });
  assert.equal(pool.threads.length, 1);
  await pool.prewarm(2);
  assert.equal(pool.threads.length, 2);
  assert.equal(pool.stats().workers.ready, 2);
  await pool.prewarm(1);
  assert.equal(pool.threads.length, 2);
  await pool.prewarm(50);
  assert.deepEqual([pool.threads.length, pool.stats().workers.ready], [3, 3]);
  for (const count of [-1, 0.5, 'all', Number.NaN])
    assert.throws(() => pool.prewarm(count), { name: 'MillraceError' });
});

test('stats().tasks: the running tasks, with their workers and usual times', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  assert.deepEqual(pool.stats().tasks, []);
  await warm(pool, 'task');
  const { ended, release } = await hold(pool);
  const before = pool.stats().tasks;
  const [{ name, filename, meanMs, worker, systemThread, ranMs }] = before;
  assert.equal(before.length, 1);
  assert.deepEqual({ name, meanMs, worker }, { name: 'hold', meanMs: null, worker: ids(pool)[0] });
  assert.match(filename, /tasks\.js$/);
  assert.ok(ranMs >= 0);
  assert.equal(typeof systemThread, process.platform === 'linux' ? 'number' : 'object');
  release();
  await ended;
  await atRest(pool);
  assert.deepEqual(pool.stats().tasks, []);
});

test('recycle(): each worker is replaced under load', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2 });
  await pool.prewarm();
  const before = ids(pool);
  const finish = load(pool);
  await pool.recycle();
  const after = ids(pool);
  assert.equal(after.length, 2);
  assert.deepEqual(
    after.filter((id) => before.includes(id)),
    [],
  );
  await finish();
  assert.equal(pool.stats().crashed, 0);
});

test('recycle() lets a task end that runs; those behind it do not wait for it', async (t) => {
  const pool = open(t);
  await warm(pool, 'task');
  const held = await hold(pool, { name: 'task' });
  const calls = repeat(10, (n) => pool.run({ n }, { name: 'task' }));
  await until(() => pool.stats().queued.ahead > 0);
  const recycled = pool.recycle();
  assert.deepEqual(
    await outcomes(calls),
    repeat(10, (n) => n),
  );
  held.release();
  assert.equal(await held.ended, 0);
  await recycled;
  assert.equal(pool.threads.length, 1);
});

test('maxTasksPerWorker: workers are replaced under load', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, maxTasksPerWorker: 100 });
  const seen = new Set();
  pool.on('workerCreate', ({ id }) => seen.add(id));
  const finish = load(pool);
  await until(() => seen.size >= 6);
  await finish();
  await atRest(pool);
});

test('maxWorkerAge: a worker that is old is replaced when it ends a task', async (t) => {
  const pool = open(t, { maxWorkerAge: 1 });
  const before = ids(pool);
  const destroyed = once(pool, 'workerDestroy');
  assert.equal(await pool.run(1), 1);
  await destroyed;
  assert.deepEqual(
    ids(pool).filter((id) => before.includes(id)),
    [],
  );
  assert.equal(await pool.run(2), 2);
});

test('more workers for tasks that take long, and fewer when there are none', async (t) => {
  const pool = open(t, { maxThreads: 3, idleTimeout: 10 });
  const reasons = [];
  pool.on('allocation', (allocation) => reasons.push(allocation));
  const held = [await hold(pool), await hold(pool), await hold(pool)];
  assert.equal(pool.threads.length, 3);
  for (const each of held) each.release();
  await until(() => pool.threads.length === 1);
  assert.deepEqual(
    reasons.map(({ reason, workers }) => [reason, workers]),
    [
      ['load', 2],
      ['load', 3],
      ['idle', 2],
      ['idle', 1],
    ],
  );
  for (const { at, maxThreads, queued, running, memory } of reasons) {
    assert.equal(maxThreads, 3);
    assert.ok(Math.abs(Date.now() - at) < 3_600_000);
    assert.ok(Number.isInteger(queued) && Number.isInteger(running));
    assert.equal(memory.throttled, false);
    assert.ok(memory.reservedBytes > 0 && memory.limitBytes > memory.reservedBytes);
  }
  assert.equal(await pool.run(1), 1);
});

test('without a minimum none is there when there is nothing to do, and the next call starts one', async (t) => {
  const pool = open(t, { minThreads: 0, idleTimeout: 0 });
  assert.equal(pool.threads.length, 0);
  assert.equal(await pool.run(1), 1);
  await until(() => pool.threads.length === 0);
  assert.equal(await pool.run(2), 2);
});

test('idleTimeout: Infinity keeps them', async (t) => {
  const pool = open(t, { minThreads: 0, maxThreads: 2, idleTimeout: Number.POSITIVE_INFINITY });
  await pool.prewarm();
  await pool.run(1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(pool.threads.length, 2);
});

test('the last allocation told is what there is, whatever ended the workers', async (t) => {
  const pool = open(t, {
    maxThreads: 2,
    abortGrace: 0,
    idleTimeout: Number.POSITIVE_INFINITY,
  });
  let last;
  pool.on('allocation', (allocation) => {
    last = allocation;
  });
  const isTold = () => until(() => last?.workers === pool.threads.length);
  await pool.prewarm();
  await isTold();
  assert.equal(last.reason, 'load');
  await pool.recycle();
  await isTold();
  assert.equal(last.reason, 'recycle');
  await assert.rejects(pool.run({ deaths: 1 }, { name: 'attempt' }));
  await isTold();
  assert.equal(last.reason, 'crash');
  await pool.prewarm();
  last = undefined;
  await assert.rejects(pool.run({}, { name: 'loop', timeout: 5 }));
  assert.ok(last !== undefined, 'a worker that was ended for its task');
  await isTold();
});

test('of a process of a cluster: as many as its share is', async (t) => {
  const child = fork(new URL('./share-process.js', import.meta.url), {
    // As node:cluster does.
    env: { ...process.env, NODE_UNIQUE_ID: '1', MILLRACE_CPUS: '1' },
  });
  t.after(() => child.kill('SIGKILL'));
  const said = [];
  const next = async () => {
    const [message] = await once(child, 'message');
    if (message?.act !== undefined) return next();
    said.push(message);
    return message;
  };
  assert.deepEqual(await next(), { maxThreads: 1, workers: 1 });
  child.send({ 'millrace:cpus': 2 });
  const { reason, maxThreads } = await next();
  assert.equal(reason, 'share');
  assert.ok(maxThreads >= 1);
  child.send({ 'millrace:cpus': 0.5 });
  assert.deepEqual(await next(), { reason: 'share', maxThreads: 1 });
  child.send('end');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
});
