// Injected: the end of a pool, and of its process, in the middle of everything: with tasks that wait, run, and were sent ahead; during crashes,
// closes and replacements. Counted: answers of each call, what keeps the process alive.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { atRest, counters, holding, open, outcomes, repeat, until, warm } from './support.js';

const count = 300;
const gate = () => new Int32Array(new SharedArrayBuffer(4));

test('destroy with tasks that wait, run, and were sent ahead: each is answered, none runs later', async (t) => {
  const runs = counters(count);
  const pool = open(t, { workerData: { runs, gate: gate() }, minThreads: 2 });
  await pool.prewarm();
  const before = await warm(pool, 'count');
  const held = await holding(pool, 2, () => [
    pool.run(undefined, { name: 'hold' }),
    pool.run(undefined, { name: 'hold', timeout: 600_000 }),
  ]);
  const calls = repeat(count, (n) => pool.run(n, { name: 'count' }));
  const all = outcomes([...held, ...calls]);
  const again = pool.destroy();
  await Promise.all([pool.destroy(), pool.close(), again]);
  assert.deepEqual(await all, { MILLRACE_E_CLOSED: count + 2 });
  assert.deepEqual(
    [...runs],
    repeat(count, () => 0),
  );
  await assert.rejects(pool.run(1), { code: 'MILLRACE_E_CLOSED' });
  assert.equal(pool.threads.length, 0);
  await atRest(pool, before + count + 2);
});

test('close during a crash: what had not begun runs all the same', async (t) => {
  const runs = counters(count);
  const pool = open(t, { workerData: { runs } });
  const before = await warm(pool, 'crash', {});
  const isCulprit = (n) => n % 60 === 30;
  const calls = repeat(count, (n) =>
    pool.run({ n, how: isCulprit(n) ? 'exit' : null }, { name: 'crash' }),
  );
  const all = outcomes(calls);
  await pool.close();
  assert.deepEqual(await all, { ok: count - 5, MILLRACE_E_WORKER: 5 });
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  await atRest(pool, before + count);
});

test('destroy during close: the close ends, each call is answered once', async (t) => {
  const pool = open(t, { workerData: { gate: gate() }, maxThreads: 1 });
  const [held] = await holding(pool, 1, () => [pool.run(undefined, { name: 'hold' })]);
  const all = outcomes([held, ...repeat(20, (n) => pool.run(n))]);
  const closed = pool.close();
  await pool.destroy();
  await closed;
  assert.deepEqual(await all, { MILLRACE_E_CLOSED: 21 });
  await atRest(pool, 21);
});

test('a close with force while tasks wait and run: those that run end', async (t) => {
  const held = gate();
  const pool = open(t, { workerData: { gate: held }, maxThreads: 1 });
  const [running] = await holding(pool, 1, () => [pool.run(undefined, { name: 'hold' })]);
  const waiting = outcomes(repeat(20, (n) => pool.run(n)));
  const first = pool.close();
  const second = pool.close({ force: true });
  assert.deepEqual(await waiting, { MILLRACE_E_CLOSED: 20 });
  Atomics.store(held, 0, 1);
  Atomics.notify(held, 0);
  await running;
  await Promise.all([first, second]);
  await atRest(pool, 21);
});

test('recycle during crashes and under load: no task that had not begun is lost', async (t) => {
  const runs = counters(count);
  const pool = open(t, { workerData: { runs }, minThreads: 2 });
  const before = await warm(pool, 'crash', {});
  const isCulprit = (n) => n % 100 === 50;
  const all = outcomes(
    repeat(count, (n) => pool.run({ n, how: isCulprit(n) ? 'exit' : null }, { name: 'crash' })),
  );
  const recycled = Promise.allSettled([pool.recycle(), pool.recycle()]);
  assert.deepEqual(await all, { ok: count - 3, MILLRACE_E_WORKER: 3 });
  await recycled;
  assert.deepEqual(
    [...runs],
    repeat(count, () => 1),
  );
  await until(() => pool.stats().workers.total === 2);
  await atRest(pool, before + count);
});

test('workers that are replaced after every task: none is lost, and the pool ends in the middle of it', async (t) => {
  const tasks = 12;
  const runs = counters(tasks);
  const pool = open(t, { workerData: { runs }, maxThreads: 1, maxTasksPerWorker: 1 });
  pool.on('error', (error) => assert.fail(error));
  const calls = repeat(tasks, (n) => pool.run(n, { name: 'count' }));
  assert.deepEqual(await outcomes(calls), { ok: tasks });
  assert.deepEqual(
    [...runs],
    repeat(tasks, () => 1),
  );
  const replaced = assert.rejects(pool.recycle(), { code: 'MILLRACE_E_CLOSED' }).catch(() => {});
  await pool.destroy();
  await replaced;
  await atRest(pool, tasks);
});

test('ends while workers start', async (t) => {
  const pool = open(t, { minThreads: 2 });
  const all = outcomes([...repeat(10, (n) => pool.run(n)), pool.prewarm(), pool.recycle()]);
  await pool.destroy();
  assert.deepEqual(await all, { MILLRACE_E_CLOSED: 12 });
  await atRest(pool, 10);
});

test('everything at once, by chance', async (t) => {
  for (const seed of seeds(1)) await t.test(`seed ${seed}`, (each) => byChance(each, seed));
});

async function byChance(t, seed) {
  const random = randomNumbers(seed);
  const size = 200;
  const runs = counters(size);
  const retried = new Set();
  const pool = open(t, { workerData: { runs }, minThreads: random(3), abortGrace: 5 });
  pool.on('error', () => {});
  const kinds = [
    (n) => pool.run(n, { name: 'count' }),
    (n) => pool.run(n, { name: 'count', priority: 'low' }),
    (n) => pool.run({ n, how: random(20) === 0 ? 'exit' : null }, { name: 'crash' }),
    (n) => {
      retried.add(n);
      return pool.run({ n }, { name: random(10) === 0 ? 'crashOnce' : 'crash', retry: 2 });
    },
    () => pool.run(random(3), { name: 'wait', timeout: 1 + random(3) }),
    () => pool.run(random(3), { name: 'busy', signal: AbortSignal.timeout(random(4)) }),
    () => pool.run(() => {}),
    () => pool.run('a function', { name: 'unclonable' }),
  ];
  const calls = [];
  for (let n = 0; n < size; n++) {
    const call = kinds[random(kinds.length)](n);
    call.catch(() => {});
    calls.push(call);
    if (random(40) === 0) await new Promise((resolve) => setTimeout(resolve, random(4)));
    if (random(100) === 0) pool.recycle().catch(() => {});
  }
  const all = outcomes(calls);
  if (random(2) === 0) await pool.close();
  else await pool.destroy();
  const ends = await all;
  const known = /^(ok|MILLRACE_E_(CLOSED|WORKER|TIMEOUT|ABORTED|INVALID_ARGUMENT|BAD_RESULT))$/;
  for (const key of Object.keys(ends)) assert.match(key, known);
  for (const [n, times] of runs.entries()) {
    assert.ok(times <= (retried.has(n) ? 3 : 1), `${n} ran ${times} times`);
  }
  await atRest(pool, size);
}

const program = fileURLToPath(new URL('./ends-process.js', import.meta.url));

for (const what of [
  'idle',
  'done',
  'aborted while it loads',
  'prewarmed',
  'recycled',
  'destroyed',
  'closed',
  'never ready',
]) {
  test(`a process ends by itself: ${what}`, async (t) => {
    const child = spawn(process.execPath, [program, what], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
    });
    const [code] = await once(child, 'close');
    assert.equal(text, `${what}\n`);
    assert.equal(code, 0);
  });
}

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`${signal} while tasks run in it and wait: the process ends`, async (t) => {
    const child = spawn(process.execPath, [program, 'busy'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill(signal);
    const [code, by] = await once(child, 'close');
    assert.deepEqual({ code, by }, { code: null, by: signal });
  });
}
