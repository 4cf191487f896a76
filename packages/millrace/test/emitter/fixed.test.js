// The policy fixed: a batch is held for maxDelay, or until it is full. Order and counts only, never durations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { turn, until } from './helper.js';

function held(options) {
  const batches = [];
  const e = new BatchEmitter({
    ...{ policy: 'fixed', maxDelay: 60_000, maxDeferral: 3_600_000 },
    ...options,
  });
  e.onBatch('x', (items, { trigger }) => batches.push([trigger, ...items]));
  return { e, batches };
}

test('events of several turns are one batch', async () => {
  const { e, batches } = held();
  e.emit('x', 1);
  await turn();
  e.emit('x', 2);
  await turn();
  assert.deepEqual(batches, []);
  e.emit('x', 3);
  e.set({ maxDelay: 1 });
  await until(() => batches.length > 0);
  assert.deepEqual(batches, [['delay', 1, 2, 3]]);
});

test('a full batch leaves at the end of its turn; the rest is held', async () => {
  const { e, batches } = held({ maxBatch: 2 });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.deepEqual(batches, [['size', 1, 2]]);
  assert.equal(e.queued(), 1);
  e.close();
  assert.deepEqual(batches[1], ['close', 3]);
});

test('HIGH ends the hold, and leads the batch', async () => {
  const { e, batches } = held();
  e.emit('x', 1);
  await turn();
  e.push('x', [2], { priority: 'high' });
  await turn();
  assert.deepEqual(batches, [['priority', 2, 1]]);
});

test('threshold ends the hold', async () => {
  const { e, batches } = held({ threshold: 3 });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(batches, []);
  e.emit('x', 3);
  await turn();
  assert.deepEqual(batches, [['threshold', 1, 2, 3]]);
});

test('without a delay it leaves at the end of the turn', async () => {
  const { e, batches } = held({ maxDelay: 0 });
  e.emit('x', 1);
  await turn();
  assert.deepEqual(batches, [['turn', 1]]);
});

test('a shorter delay applies to the batch that is held', async () => {
  const { e, batches } = held();
  e.emit('x', 1);
  await turn();
  e.set({ maxDelay: 1 });
  await until(() => batches.length > 0);
  assert.deepEqual(batches, [['delay', 1]]);
});

test('each hold begins anew: the second batch is held as the first was', async (t) => {
  const clock = stillClock(t);
  const { e, batches } = held({ maxDelay: 20 });
  for (const n of [1, 2]) {
    e.emit('x', n);
    await turn();
    assert.equal(batches.length, n - 1);
    clock.pass(20);
    await until(() => batches.length === n);
  }
  assert.deepEqual(batches, [
    ['delay', 1],
    ['delay', 2],
  ]);
});

test('adaptive on an idle loop does not hold, whatever maxDelay is', async () => {
  const e = new BatchEmitter({ maxDelay: 60_000, hold: 'always' });
  const triggers = [];
  e.onBatch('x', (_items, { trigger }) => triggers.push(trigger));
  await new Promise((resolve) => setTimeout(resolve, 300));
  e.emit('x', 1);
  await turn();
  assert.deepEqual(triggers, ['turn']);
});
