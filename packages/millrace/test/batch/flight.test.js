// Batches in flight: one by default, while which calls gather.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { controlled, turn } from './helper.js';

test('while a batch is in flight, calls gather; they leave when it returns', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const calls = [one(1)];
  await turn();
  for (const n of [2, 3]) {
    calls.push(one(n));
    await turn();
  }
  assert.deepEqual(batches, [[1]]);
  assert.equal(one.stats().inFlight, 1);
  assert.equal(one.stats().queued, 2);
  land();
  await turn();
  assert.deepEqual(batches, [[1], [2, 3]]);
  land();
  assert.deepEqual(await Promise.all(calls), [1, 2, 3]);
  assert.equal(one.stats().inFlight, 0);
});

test('a batch that fails makes room like one that returns', async () => {
  const { bulk, batches, fail, land } = controlled();
  const one = batch(bulk);
  const first = one(1);
  await turn();
  const second = one(2);
  fail(new Error('bad'));
  await assert.rejects(first, /bad/);
  await turn();
  assert.deepEqual(batches, [[1], [2]]);
  land();
  assert.equal(await second, 2);
});

test('concurrency is the number of batches in flight, never more', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk, { concurrency: 2, maxBatch: 2 });
  const calls = [1, 2, 3, 4, 5, 6, 7].map((n) => one(n));
  await turn();
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4],
  ]);
  assert.equal(one.stats().inFlight, 2);
  land();
  await turn();
  assert.equal(batches.length, 3);
  assert.equal(one.stats().inFlight, 2);
  land();
  land();
  await turn();
  assert.deepEqual(batches.slice(2), [[5, 6], [7]]);
  land();
  assert.deepEqual(await Promise.all(calls), [1, 2, 3, 4, 5, 6, 7]);
});

test('a long queue is worked off batch by batch', async () => {
  let running = 0;
  let most = 0;
  const sizes = [];
  const one = batch(
    async (items) => {
      most = Math.max(most, ++running);
      sizes.push(items.length);
      await turn();
      running--;
      return items;
    },
    { concurrency: 3, maxBatch: 10 },
  );
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  assert.deepEqual(await Promise.all(numbers.map((n) => one(n))), numbers);
  assert.equal(most, 3);
  assert.deepEqual(sizes, new Array(50).fill(10));
});

test('a bulk function that calls its own function gets that in a later batch', async () => {
  const batches = [];
  const one = batch(async (items) => {
    batches.push(items);
    if (items.includes('outer')) inner = one('inner');
    return items;
  });
  let inner;
  assert.equal(await one('outer'), 'outer');
  assert.equal(await inner, 'inner');
  assert.deepEqual(batches, [['outer'], ['inner']]);
});

test('with concurrency 2 a bulk function may await its own function', async () => {
  const one = batch(async (items) => (items[0] === 'outer' ? [await one('inner')] : items), {
    concurrency: 2,
  });
  assert.equal(await one('outer'), 'inner');
});
