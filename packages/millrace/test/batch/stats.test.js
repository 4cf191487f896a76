import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { controlled, turn } from './helper.js';

test('stats count calls, batches and what is in flight', async () => {
  const { bulk, land } = controlled();
  const one = batch(bulk, { key: (n) => n, maxQueue: 3 });
  const calls = [one(1), one(1), one(2)];
  await turn();
  calls.push(one(3));
  const { inFlight, shared, queued, pushed, delivered, batches, depth } = one.stats();
  assert.deepEqual(
    { inFlight, shared, queued, pushed, delivered, batches, depth },
    {
      inFlight: 1,
      shared: 1,
      queued: 1,
      pushed: 3,
      delivered: 2,
      batches: 1,
      depth: { high: 0, normal: 1, low: 0 },
    },
  );
  land();
  await turn();
  land();
  await Promise.all(calls);
  const end = one.stats();
  assert.deepEqual([end.inFlight, end.queued, end.delivered, end.batches], [0, 0, 3, 2]);
});
