// Which calls go together: those of one tick, up to the end of its microtask queue.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { echo, turn } from './helper.js';

test('calls of one tick are one batch, in order', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  assert.deepEqual(await Promise.all([one('a'), one('b'), one('c')]), ['a', 'b', 'c']);
  assert.deepEqual(batches, [['a', 'b', 'c']]);
});

test('the bulk function does not run inside the call', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const result = one('a');
  assert.deepEqual(batches, []);
  await result;
});

test('a call that comes alone leaves at the end of its tick, before timers and immediates', async () => {
  const order = [];
  const one = batch(async (items) => {
    order.push('batch');
    return items;
  });
  await new Promise((resolve) => {
    setImmediate(() => {
      setImmediate(() => {
        order.push('immediate');
        resolve();
      });
      one('a');
    });
  });
  assert.deepEqual(order, ['batch', 'immediate']);
});

test('calls in promise chains of the same tick join the batch', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const calls = [one(1)];
  let chain = Promise.resolve();
  for (let i = 2; i <= 10; i++) chain = chain.then(() => void calls.push(one(i)));
  await chain;
  await Promise.all(calls);
  assert.deepEqual(batches, [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
});

test('calls in async functions that await others join the batch', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const deep = async (n) => {
    for (let i = 0; i < n; i++) await null;
    return one(n);
  };
  await Promise.all([deep(0), deep(5), deep(20), one('now')]);
  assert.equal(batches.length, 1);
  assert.equal(batches[0].length, 4);
});

test('calls of different turns are different batches', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  one('a');
  await turn();
  await one('b');
  assert.deepEqual(batches, [['a'], ['b']]);
});

test('a batch holds maxBatch items at most', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { maxBatch: 3 });
  const results = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => one(n)));
  assert.deepEqual(results, [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(batches, [[1, 2, 3], [4, 5, 6], [7]]);
});

test('the function can be given to map, which adds an index and the array', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(one)), ['a', 'b', 'c']);
  assert.equal(batches.length, 1);
});

test('under direct each call is a batch of its own, inside the call', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { policy: 'direct' });
  const calls = [one('a'), one('b')];
  assert.deepEqual(batches, [['a'], ['b']]);
  assert.deepEqual(await Promise.all(calls), ['a', 'b']);
});

test('fixed gathers over turns until maxDelay', async (t) => {
  const clock = stillClock(t);
  const { bulk, batches } = echo();
  const one = batch(bulk, { policy: 'fixed', maxDelay: 20 });
  const calls = [one('a')];
  await turn();
  calls.push(one('b'));
  await turn();
  assert.deepEqual(batches, []);
  clock.pass(20);
  await Promise.all(calls);
  assert.deepEqual(batches, [['a', 'b']]);
});

test('fixed sends a full batch without waiting', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk, { policy: 'fixed', maxDelay: 60_000, maxBatch: 2 });
  await Promise.all([one('a'), one('b')]);
  assert.deepEqual(batches, [['a', 'b']]);
});

test('two functions do not mix', async () => {
  const [first, second] = [echo(), echo()];
  const [a, b] = [batch(first.bulk), batch(second.bulk)];
  await Promise.all([a(1), b(2), a(3)]);
  assert.deepEqual([first.batches, second.batches], [[[1, 3]], [[2]]]);
});
