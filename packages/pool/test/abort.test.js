// Calls that are given up.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import {
  atRest,
  begins,
  hold,
  newGate,
  open,
  outcomes,
  repeat,
  shared,
  until,
  warm,
} from './support.js';

const aborted = { code: 'MILLRACE_E_ABORTED', name: 'AbortError' };

test('one that waits here is not begun; the others are', async (t) => {
  const pool = open(t);
  const held = await hold(pool);
  const runs = shared(5);
  const controller = new AbortController();
  const reason = new Error('why');
  const calls = repeat(5, (n) =>
    pool.run({ n, runs }, { name: 'task', signal: n === 2 ? controller.signal : null }),
  );
  const given = assert.rejects(calls[2], { ...aborted, cause: reason });
  controller.abort(reason);
  // While nothing can begin.
  await given;
  assert.equal(pool.queueSize, 4);
  held.release();
  await outcomes(calls);
  assert.deepEqual([...runs], [1, 1, 0, 1, 1]);
});

test('one that was sent ahead is not begun, and is answered at once', async (t) => {
  const pool = open(t);
  await warm(pool, 'task');
  const gate = newGate();
  const runs = shared(20);
  const controller = new AbortController();
  const begun = begins(pool, 'runs');
  const held = pool.run({ say: 'runs', gate: gate.cell }, { name: 'task' });
  await begun;
  const calls = repeat(20, (n) =>
    pool.run({ n, runs }, { name: 'task', signal: n % 2 ? controller.signal : null }),
  );
  await until(() => pool.stats().queued.ahead > 0);
  controller.abort();
  const given = await outcomes(calls.filter((_, n) => n % 2 === 1));
  assert.deepEqual(new Set(given), new Set(['MILLRACE_E_ABORTED']));
  gate.open();
  await held;
  await outcomes(calls);
  assert.deepEqual(
    [...runs],
    repeat(20, (n) => 1 - (n % 2)),
  );
  await atRest(pool);
});

test('one that runs and does not listen: its worker is replaced, what it had not begun runs elsewhere, once', async (t) => {
  const pool = open(t);
  await warm(pool, 'loopIf');
  const [worker] = pool.threads;
  const runs = shared(21);
  const controller = new AbortController();
  const { signal } = controller;
  const begun = begins(pool, 'loops');
  const call = pool.run({ n: 20, runs, loops: true, say: 'loops' }, { name: 'loopIf', signal });
  const others = repeat(20, (n) => pool.run({ n, runs }, { name: 'loopIf' }));
  await begun;
  await until(() => pool.stats().queued.ahead > 0);
  controller.abort();
  await assert.rejects(call, aborted);
  assert.deepEqual(
    await outcomes(others),
    repeat(20, (n) => n),
  );
  assert.deepEqual(
    [...runs],
    repeat(21, () => 1),
  );
  assert.notEqual(pool.threads[0], worker);
  const { crashed, requeued, workers } = pool.stats();
  assert.equal(crashed, 0);
  assert.ok(requeued > 0);
  assert.equal(workers.total, 1);
});

test('one that runs and listens ends, and its worker lives: by its signal, and in a loop', async (t) => {
  const pool = open(t, { abortGrace: 60_000 });
  const [worker] = pool.threads;
  for (const name of ['signalled', 'listen']) {
    const controller = new AbortController();
    const begun = begins(pool, name);
    const call = pool.run({ say: name }, { name, signal: controller.signal });
    await begun;
    controller.abort();
    await assert.rejects(call, aborted);
    assert.equal(await pool.run(name), name);
  }
  assert.deepEqual(pool.threads, [worker]);
});

test('its caller does not wait for it to end', async (t) => {
  const pool = open(t, { abortGrace: 60_000 });
  const controller = new AbortController();
  const gate = newGate();
  const begun = begins(pool, 'listens');
  const call = pool.run(
    { say: 'listens', gate: gate.cell },
    { name: 'listen', signal: controller.signal },
  );
  await begun;
  controller.abort();
  await assert.rejects(call, aborted);
  assert.equal(pool.stats().workers.busy, 1);
  gate.open();
  await atRest(pool);
});

test('those behind it do not wait for it to end either while another worker is free', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, abortGrace: 60_000 });
  await pool.prewarm();
  await warm(pool, 'listen');
  const held = await hold(pool);
  const controller = new AbortController();
  const gate = newGate();
  const begun = begins(pool, 'listens');
  const call = pool.run(
    { say: 'listens', gate: gate.cell },
    { name: 'listen', signal: controller.signal },
  );
  const behind = repeat(4, (n) => pool.run({ n }, { name: 'listen' }));
  await begun;
  await until(() => pool.stats().queued.ahead > 0);
  controller.abort();
  await assert.rejects(call, aborted);
  held.release();
  assert.deepEqual(await outcomes(behind), [0, 1, 2, 3]);
  assert.equal(pool.stats().workers.busy, 1);
  gate.open();
  await atRest(pool);
});

test('one that listens, and does not mind it, is ended after the grace', async (t) => {
  const pool = open(t, { abortGrace: 20 });
  const [worker] = pool.threads;
  const controller = new AbortController();
  const begun = begins(pool, 'deaf');
  const call = pool.run({ say: 'deaf' }, { name: 'deaf', signal: controller.signal });
  const next = repeat(3, (n) => pool.run(n));
  await begun;
  controller.abort();
  await assert.rejects(call, aborted);
  assert.deepEqual(await outcomes(next), [0, 1, 2]);
  assert.notEqual(pool.threads[0], worker);
  assert.equal(pool.stats().workers.total, 1);
});

test('aborted before the call: nothing is begun', async (t) => {
  const pool = open(t);
  const runs = shared(1);
  const signal = AbortSignal.abort('no');
  await assert.rejects(pool.run({ runs }, { name: 'task', signal }), { ...aborted, cause: 'no' });
  assert.equal(await pool.run(1), 1);
  assert.equal(runs[0], 0);
});

test('an EventEmitter: waiting, and running; no listener stays', async (t) => {
  const pool = open(t);
  for (const name of ['loop', 'task']) {
    const emitter = new EventEmitter();
    const held = name === 'task' ? await hold(pool) : null;
    const begun = held ?? begins(pool, name);
    const call = pool.run({ say: name }, { name, signal: emitter });
    await begun;
    assert.equal(emitter.listenerCount('abort'), 1);
    emitter.emit('abort');
    await assert.rejects(call, aborted);
    assert.equal(emitter.listenerCount('abort'), 0);
    held?.release();
  }
  const emitter = new EventEmitter();
  assert.equal(await pool.run(1, { signal: emitter }), 1);
  assert.equal(emitter.listenerCount('abort'), 0);
});

test('an abort after the end is none', async (t) => {
  const pool = open(t);
  const controller = new AbortController();
  const [worker] = pool.threads;
  assert.equal(await pool.run(1, { signal: controller.signal }), 1);
  controller.abort();
  assert.equal(await pool.run(2), 2);
  assert.deepEqual(pool.threads, [worker]);
  assert.equal(pool.stats().failed, 0);
});

test('a task that ended before it on the same worker keeps its result, also if it has printed', async (t) => {
  const pool = open(t);
  await warm(pool, 'printIf');
  const held = await hold(pool);
  const controller = new AbortController();
  const begun = begins(pool, 'loops');
  const before = repeat(3, (n) => pool.run({ n, prints: true }, { name: 'printIf' }));
  const call = pool.run(
    { loops: true, say: 'loops' },
    { name: 'printIf', signal: controller.signal },
  );
  // So many that the first ones are in one batch.
  const after = repeat(20, (n) => pool.run({ n }, { name: 'printIf' }));
  held.release();
  await begun;
  controller.abort();
  await assert.rejects(call, aborted);
  assert.deepEqual(await outcomes(before), [0, 1, 2]);
  assert.deepEqual(
    await outcomes(after),
    repeat(20, (n) => n),
  );
});

test('with several at a time one with a signal runs alone: none beside it is lost', async (t) => {
  const pool = open(t, { concurrentTasksPerWorker: 2 });
  await warm(pool, 'asyncIf');
  const gate = newGate();
  const begun = begins(pool, 'runs');
  const before = pool.run({ n: 7, gate: gate.cell, say: 'runs' }, { name: 'asyncIf' });
  await begun;
  const controller = new AbortController();
  const loops = begins(pool, 'loops');
  const call = pool.run(
    { loops: true, say: 'loops' },
    { name: 'asyncIf', signal: controller.signal },
  );
  // Time for it to begin, if it does what it must not.
  await new Promise((resolve) => setTimeout(resolve, 30));
  gate.open();
  assert.equal(await before, 7);
  await loops;
  const after = pool.run({ n: 8 }, { name: 'asyncIf' });
  controller.abort();
  await assert.rejects(call, aborted);
  assert.equal(await after, 8);
});
