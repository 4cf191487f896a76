// Injected: tasks and results that cannot be cloned, that throw as they are looked at, that the other side cannot read; thenables that
// misbehave; tasks that tamper with their worker. Counted: answers, and workers that had to be given up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from '@millrace/pool';
import { atRest, counters, open, outcomes, repeat, warm } from './support.js';

const trap = () => {
  throw new Error('trapped');
};

test('tasks that cannot be sent fail alone in their batch', async (t) => {
  const runs = counters(100);
  const pool = open(t, { workerData: { runs } });
  const before = await warm(pool, 'count');
  const taken = new ArrayBuffer(8);
  structuredClone(taken, { transfer: [taken] });
  const bad = [
    () => {},
    Symbol('s'),
    { f() {} },
    new WeakMap(),
    Object.defineProperty({}, 'value', { enumerable: true, get: trap }),
    new Proxy({}, { get: trap, ownKeys: trap }),
    Object.assign(new (class A {})(), { promise: Promise.resolve() }),
    taken,
  ];
  const calls = repeat(100, (n) => {
    const good = pool.run(n, { name: 'count' });
    return bad[n] === undefined ? [good] : [good, pool.run(bad[n], { name: 'count' })];
  }).flat();
  assert.deepEqual(await outcomes(calls), { ok: 100, MILLRACE_E_INVALID_ARGUMENT: bad.length });
  assert.deepEqual(
    [...runs],
    repeat(100, () => 1),
  );
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, before + 100 + bad.length);
});

test('values that cannot be transferred: refused, and neighbours are sent', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const code = 'MILLRACE_E_INVALID_ARGUMENT';
  const buffer = new ArrayBuffer(8);
  const { port1 } = new MessageChannel();
  const calls = [
    pool.run(buffer, { transferList: [buffer, buffer] }),
    pool.run(0, { transferList: [{}] }),
    pool.run(0, { transferList: [null] }),
    pool.run(port1),
    pool.run(move({ [transferableSymbol]: 5, [valueSymbol]: 5 })),
    pool.run(1),
  ];
  assert.deepEqual(await outcomes(calls), { [code]: 5, ok: 1 });
  assert.equal(buffer.byteLength, 8, 'it was not taken away');
  // Only one of them can have it.
  const twice = [pool.run(buffer, { transferList: [buffer] }), pool.run(buffer), pool.run(2)];
  assert.deepEqual(await outcomes(twice), { [code]: 1, ok: 2 });
  const throwing = Object.defineProperty({ [valueSymbol]: 5 }, transferableSymbol, { get: trap });
  await assert.rejects(pool.run(move(throwing)), /trapped/);
  port1.close();
  await atRest(pool, 9);
});

const results = [
  'a function',
  'a symbol',
  'a weak map',
  'a promise in an object',
  'a getter that throws',
  'a promise of a proxy that throws',
  'a transferable that throws',
];

test('results that cannot be cloned fail alone, and end no worker', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const calls = repeat(100, (n) => {
    const good = pool.run(n);
    const what = results[n];
    return what === undefined ? [good] : [good, pool.run(what, { name: 'unclonable' })];
  }).flat();
  assert.deepEqual(await outcomes(calls), { ok: 100, MILLRACE_E_BAD_RESULT: results.length });
  // As one that is looked at by `await` throws.
  await assert.rejects(pool.run('a proxy that throws', { name: 'unclonable' }), /trapped/);
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 101 + results.length);
});

test('a thrown value that cannot be cloned comes as text, and ends no worker', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  for (const name of ['throws', 'rejects']) {
    const said = async (what) => pool.run(what, { name }).catch(({ message }) => message);
    const calls = [
      said('an error with a getter that throws'),
      said('an error with a function'),
      said('an object without prototype'),
      said('a proxy that throws'),
      said('a function'),
      pool.run('echo'),
    ];
    const [getter, fn, bare, proxy, thrown, echo] = await Promise.all(calls);
    assert.equal(getter, 'boom');
    assert.equal(fn, 'Error: boom');
    assert.equal(bare, 'something that cannot be shown');
    assert.equal(proxy, 'something that cannot be shown');
    assert.match(thrown, /boom/);
    assert.equal(echo, 'echo');
  }
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 12);
});

test('thenables that throw or call back twice are settled once, and their worker goes on', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const name = 'thenable';
  await assert.rejects(pool.run('throws', { name }), /no promise/);
  assert.equal(await pool.run('calls back twice', { name }), 1);
  await assert.rejects(pool.run('has a getter that throws', { name }), /trapped/);
  assert.deepEqual(await outcomes(repeat(50, (n) => pool.run(n))), { ok: 50 });
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 53);
});

test('a stack overflow is an error of the task', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  await assert.rejects(pool.run(0, { name: 'overflow' }), RangeError);
  assert.equal(await pool.run(1), 1);
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 2);
});

test('results nested too deep for one side or the other: each call ends, tasks that had not begun run', async (t) => {
  const runs = counters(200);
  const pool = open(t, { workerData: { runs } });
  const before = await warm(pool, 'count');
  const levels = [500, 2_000, 4_000, 8_000, 16_000, 100_000];
  const deep = levels.map((each) => pool.run(each, { name: 'deep' }));
  const good = Promise.allSettled(repeat(200, (n) => pool.run(n, { name: 'count' })));
  const settled = await Promise.allSettled(deep);
  for (const { status, reason } of settled) {
    if (status === 'rejected') assert.match(reason.code, /^MILLRACE_E_(BAD_RESULT|WORKER)$/);
  }
  // One that had ended in the same worker may be lost with it; none runs twice.
  for (const { reason } of await good) {
    if (reason) assert.equal(reason.code, 'MILLRACE_E_WORKER');
  }
  assert.deepEqual(
    [...runs],
    repeat(200, () => 1),
  );
  // One after the other, so that none ends another's worker.
  await pool.run(500, { name: 'deep' });
  await assert.rejects(pool.run(100_000, { name: 'deep' }), { code: 'MILLRACE_E_BAD_RESULT' });
  assert.equal(await pool.run(1), 1);
  await atRest(pool, before + levels.length + 203);
});

test('tasks that a worker cannot read, for its stack is small: they fail alone', async (t) => {
  const runs = counters(200);
  const pool = open(t, { workerData: { runs }, resourceLimits: { stackSizeMb: 0.75 } });
  const before = await warm(pool, 'count');
  const bad = [];
  const good = repeat(200, (n) => {
    if (n % 50 === 10) bad.push(pool.run(deepTask(2_500), { name: 'count' }));
    return pool.run(n, { name: 'count' });
  });
  const [fine, unread] = await Promise.all([outcomes(good), outcomes(bad)]);
  assert.deepEqual(fine, { ok: 200 });
  assert.deepEqual(unread, { MILLRACE_E_WORKER: 4 });
  assert.deepEqual(
    [...runs],
    repeat(200, () => 1),
  );
  await assert.rejects(bad[0], /tasks cannot be read: .*before the task began/);
  await atRest(pool, before + 204);
});

function deepTask(levels) {
  let value = null;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

test('a result of 64 MB beside small ones', async (t) => {
  const pool = open(t);
  const bytes = 64 * 2 ** 20;
  const calls = [pool.run(bytes, { name: 'large' }), ...repeat(100, (n) => pool.run(n))];
  const [large] = await Promise.all(calls);
  assert.equal(large.length, bytes);
  assert.equal(large.at(-1), 1);
  await atRest(pool, 101);
});

test('tasks that tamper with their worker: it goes on', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const messages = [];
  pool.on('message', (message) => messages.push(message));
  const what = [
    'sets an exit code',
    'posts what nobody asked for',
    'removes the listeners of parentPort',
    'removes the listeners of the process',
    'closes parentPort',
  ];
  await assert.rejects(pool.run('posts what cannot be cloned', { name: 'sabotages' }), {
    name: 'DataCloneError',
  });
  for (const each of what) {
    assert.equal(await pool.run(each, { name: 'sabotages' }), each);
    assert.equal(await pool.run(each), each);
  }
  assert.deepEqual(messages, [{ unasked: true }]);
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 2 * what.length + 1);
});
