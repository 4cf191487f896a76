// key: calls with the same key in one batch share an item.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { controlled, echo, turn } from './helper.js';

const key = (item) => item.id;

test('calls with the same key share one item and its result', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key });
  const results = await Promise.all([
    one({ id: 1, n: 'a' }),
    one({ id: 2 }),
    one({ id: 1, n: 'b' }),
  ]);
  assert.deepEqual(batches, [[{ id: 1, n: 'a' }, { id: 2 }]]);
  assert.equal(results[0], results[2]);
  assert.equal(one.stats().shared, 1);
});

test('keys are compared as those of a Map: NaN is itself, 1 is not "1"', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key: (item) => item });
  await Promise.all(
    [Number.NaN, Number.NaN, 1, '1', 0, -0, undefined, undefined].map((item) => one(item)),
  );
  assert.deepEqual(batches, [[Number.NaN, 1, '1', 0, undefined]]);
});

test('an error is shared as well', async () => {
  const error = new Error('bad');
  const one = batch(async (items) => items.map(() => error), { key });
  const settled = await Promise.allSettled([one({ id: 1 }), one({ id: 1 })]);
  assert.deepEqual(
    settled.map(({ reason }) => reason),
    [error, error],
  );
});

test('a batch that has left is not joined: the same key is a new item', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk, { key });
  const first = one({ id: 1, n: 'a' });
  await turn();
  const second = one({ id: 1, n: 'b' });
  land();
  await turn();
  land();
  assert.deepEqual(await Promise.all([first, second]), [
    { id: 1, n: 'a' },
    { id: 1, n: 'b' },
  ]);
  assert.equal(batches.length, 2);
  assert.equal(one.stats().shared, 0);
});

test('nothing is remembered after a batch: this is no cache', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key });
  await one({ id: 1 });
  await one({ id: 1 });
  assert.equal(batches.length, 2);
});

test('an abort of one caller leaves the item to the others', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key });
  const controller = new AbortController();
  const [first, second] = [one({ id: 1 }, { signal: controller.signal }), one({ id: 1 })];
  controller.abort();
  await assert.rejects(first, { name: 'AbortError' });
  assert.deepEqual(await second, { id: 1 });
  assert.deepEqual(batches, [[{ id: 1 }]]);
});

test('when all callers of a key have aborted, the item is not sent, and the key is free', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key });
  const [a, b] = [new AbortController(), new AbortController()];
  const calls = [
    one({ id: 1, n: 'a' }, { signal: a.signal }),
    one({ id: 1 }, { signal: b.signal }),
  ];
  a.abort();
  b.abort();
  const late = one({ id: 1, n: 'late' });
  await Promise.allSettled(calls);
  assert.deepEqual(await late, { id: 1, n: 'late' });
  assert.deepEqual(batches, [[{ id: 1, n: 'late' }]]);
});

test('in flight the signal aborts only when all callers of all items have', async () => {
  let signal;
  const one = batch(
    (items, context) => {
      signal = context.signal;
      return new Promise((resolve) => setImmediate(() => resolve(items)));
    },
    { key },
  );
  const [a, b] = [new AbortController(), new AbortController()];
  const calls = [
    one({ id: 1 }, { signal: a.signal }),
    one({ id: 1 }, { signal: b.signal }),
    one({ id: 2 }, { signal: b.signal }),
  ];
  const settled = Promise.allSettled(calls);
  await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
  assert.ok(signal);
  a.abort();
  assert.equal(signal.aborted, false);
  b.abort();
  assert.equal(signal.aborted, true);
  await settled;
});

test('sharing takes no room in the queue', async () => {
  const { bulk } = echo();
  const one = batch(bulk, { key, maxQueue: 2 });
  const calls = [one({ id: 1 }), one({ id: 1 }), one({ id: 1 }), one({ id: 2 })];
  await assert.rejects(one({ id: 3 }), { code: 'MILLRACE_E_OVERLOADED' });
  await Promise.all(calls);
});

test('a key that was refused is free again', async () => {
  const { bulk } = echo();
  const one = batch(bulk, { key, maxQueue: 1 });
  const first = one({ id: 1 });
  await assert.rejects(one({ id: 2 }), { code: 'MILLRACE_E_OVERLOADED' });
  await first;
  assert.deepEqual(await one({ id: 2 }), { id: 2 });
});

test('a key function that throws rejects its call alone', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { key: (item) => item.id });
  const [bad, good] = await Promise.allSettled([one(null), one({ id: 1 })]);
  assert.equal(bad.reason.name, 'TypeError');
  assert.deepEqual(good.value, { id: 1 });
  assert.equal(batches.length, 1);
});

test('as many calls may share items as may be queued', async () => {
  const { bulk, returns } = gate();
  const one = batch(bulk, { key: (item) => item, maxQueue: 3 });
  const first = one('in flight');
  await turn();
  const calls = Array.from({ length: 6 }, () => one('a'));
  const outcomes = Promise.allSettled(calls);
  await turn();
  returns();
  await first;
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  assert.deepEqual(
    refused.map(({ reason }) => reason.code),
    Array(2).fill('MILLRACE_E_OVERLOADED'),
  );
  assert.equal(await one('a'), 'a');
});

/** A bulk function whose first batch returns when told. */
function gate() {
  let returns;
  const told = new Promise((resolve) => {
    returns = resolve;
  });
  return { returns, bulk: (items) => told.then(() => items) };
}
