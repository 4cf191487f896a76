// Injected: thousands of aborts and timeouts, before tasks begin, while they run, and as they end; signals that misbehave. Counted: how calls
// have ended, runs of their neighbours.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { atRest, counters, holding, open, outcomes, repeat, until } from './support.js';

test('5,000 calls, every second one aborted in the same turn, a turn later, or as it ends', async (t) => {
  const count = 5_000;
  const runs = counters(count);
  const pool = open(t, { workerData: { runs } });
  let aborts = 0;
  const calls = repeat(count, (n) => {
    if (n % 2 === 0) return pool.run(n, { name: 'count' });
    const controller = new AbortController();
    const abort = () => {
      aborts++;
      controller.abort();
    };
    const call = pool.run(n, { name: 'count', signal: controller.signal });
    if (n % 3 === 0) abort();
    else if (n % 3 === 1) setImmediate(abort);
    else call.then(abort);
    return call;
  });
  const { ok, MILLRACE_E_ABORTED: aborted } = await outcomes(calls);
  assert.equal(ok + aborted, count);
  // Those of the same turn; others may have ended first.
  assert.ok(aborted >= Math.floor(count / 6), `${aborted}`);
  await until(() => aborts === count / 2);
  for (let n = 0; n < count; n += 2) assert.equal(runs[n], 1);
  assert.equal(Math.max(...runs), 1);
  await atRest(pool, count);
});

test('timeouts of 1 ms that race with the ends of their tasks', async (t) => {
  // One after the other, for as long as there is time.
  for (const seed of seeds(1)) await t.test(`seed ${seed}`, (each) => racing(each, seed));
});

async function racing(t, seed) {
  const random = randomNumbers(seed);
  const count = 4000;
  const runs = counters(count);
  const pool = open(t, { workerData: { runs }, minThreads: 2, abortGrace: 5 });
  let guarded = 0;
  const calls = repeat(count, (n) => {
    // Few need as long as they may, since each end of a worker takes its time.
    if (random(500) === 0) return pool.run(0.5 + random(10) / 10, { name: 'busy', timeout: 1 });
    if (random(2) === 0) {
      guarded++;
      return pool.run(n, { name: 'count', timeout: 1 });
    }
    return pool.run(n, { name: 'count' });
  });
  const { ok, MILLRACE_E_TIMEOUT: late = 0, ...others } = await outcomes(calls);
  assert.deepEqual(others, {}, 'neither done nor late');
  assert.equal(ok + late, count);
  assert.equal(pool.stats().timedOut, late);
  assert.ok(guarded > 0);
  assert.equal(Math.max(...runs), 1, 'run twice');
  await atRest(pool, count);
}

test('an abort and a timeout and the end of a task together: one answer', async (t) => {
  const count = 36;
  const pool = open(t, { minThreads: 2, abortGrace: 5 });
  const calls = repeat(count, (n) => {
    const signal = AbortSignal.timeout(1 + (n % 4));
    return pool.run(1, { name: n % 2 === 0 ? 'wait' : 'busy', signal, timeout: 1 + (n % 3) });
  });
  const {
    ok = 0,
    MILLRACE_E_TIMEOUT: late = 0,
    MILLRACE_E_ABORTED: aborted = 0,
  } = await outcomes(calls);
  assert.equal(ok + late + aborted, count);
  await atRest(pool, count);
});

test('an abort in what follows a result, and calls in what follows an abort', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const controller = new AbortController();
  const { signal } = controller;
  const first = pool.run(1, { signal }).then(() => controller.abort());
  const later = repeat(9, (n) => pool.run(n, { name: 'default', signal }));
  const again = later.map((call) => call.catch(() => pool.run(2)));
  await first;
  const { ok } = await outcomes(again);
  assert.equal(ok, 9);
  await assert.rejects(pool.run(1, { signal }), { code: 'MILLRACE_E_ABORTED', name: 'AbortError' });
  await atRest(pool, 10 + pool.stats().failed);
});

test('a function that asks for its signal gets time to end; its worker stays', async (t) => {
  const pool = open(t, { maxThreads: 1, abortGrace: 600_000 });
  const controller = new AbortController();
  const { signal } = controller;
  const [call] = await holding(pool, 1, () => [pool.run(1, { name: 'listening', signal })]);
  const [worker] = pool.threads;
  const next = pool.run(2);
  controller.abort();
  await assert.rejects(call, { code: 'MILLRACE_E_ABORTED' });
  assert.equal(await next, 2);
  assert.deepEqual(pool.threads, [worker]);
  await atRest(pool, 2);
});

test('an emitter that says abort twice, one without off, one that says it at once', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const [hold] = [pool.run(30, { name: 'wait' })];
  const twice = new EventEmitter();
  const calls = repeat(3, (n) => pool.run(n, { signal: twice }));
  twice.emit('abort');
  twice.emit('abort');
  assert.deepEqual(await outcomes(calls), { MILLRACE_E_ABORTED: 3 });
  assert.equal(twice.listenerCount('abort'), 0);

  let listener;
  const careless = { once: (_, each) => (listener = each) };
  const call = pool.run(1, { signal: careless });
  listener();
  listener();
  await assert.rejects(call, { code: 'MILLRACE_E_ABORTED' });

  const eager = { once: (_, each) => each(), off() {} };
  const neighbours = repeat(10, (n) => pool.run(n));
  await assert.rejects(pool.run(1, { signal: eager }), { code: 'MILLRACE_E_ABORTED' });
  assert.deepEqual(await outcomes([hold, ...neighbours]), { ok: 11 });
  assert.equal(await pool.run(1, { signal: careless }), 1);
  await atRest(pool, 17);
});
