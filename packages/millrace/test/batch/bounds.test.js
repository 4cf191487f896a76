// maxQueue, maxQueueBytes and size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { controlled, echo, turn } from './helper.js';

test('beyond maxQueue a call rejects with MILLRACE_E_OVERLOADED; what is in flight does not count', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk, { maxQueue: 2 });
  const calls = [one(1)];
  await turn();
  calls.push(one(2), one(3));
  await assert.rejects(one(4), { code: 'MILLRACE_E_OVERLOADED' });
  land();
  await turn();
  calls.push(one(5));
  land();
  await turn();
  land();
  assert.deepEqual(await Promise.all(calls), [1, 2, 3, 5]);
  assert.deepEqual(batches, [[1], [2, 3], [5]]);
  assert.equal(one.stats().refused.overloaded, 1);
});

test('beyond maxQueueBytes as well, by the size of the items', async () => {
  const { bulk } = echo();
  const one = batch(bulk, { maxQueueBytes: 10, size: (text) => text.length });
  const first = one('12345678');
  await assert.rejects(one('123'), /maxQueueBytes is 10/);
  assert.equal(await Promise.all([first, one('12')]).then(([a, b]) => a + b), '1234567812');
  assert.equal(one.stats().bytes, 0);
});

test('a size function that throws, or gives no size, rejects its call alone', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, {
    size: (item) => {
      if (item === 'throw') throw new RangeError('cannot tell');
      return item;
    },
  });
  const settled = await Promise.allSettled([
    one('throw'),
    one(Number.NaN),
    one(-1),
    one('1'),
    one(1),
  ]);
  assert.deepEqual(
    settled.map(({ value, reason }) => value ?? reason.code ?? reason.message),
    [
      'cannot tell',
      'MILLRACE_E_INVALID_ARGUMENT',
      'MILLRACE_E_INVALID_ARGUMENT',
      'MILLRACE_E_INVALID_ARGUMENT',
      1,
    ],
  );
  assert.deepEqual(batches, [[1]]);
});
