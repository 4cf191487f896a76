// AbortSignal: before the call, while it is queued, and in flight.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { batch } from 'millrace';
import { controlled, echo, turn } from './helper.js';

test('a signal that is aborted already rejects the call with its reason; nothing is queued', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const reason = new Error('not wanted');
  await assert.rejects(one(1, { signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(one(2, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await turn();
  assert.deepEqual(batches, []);
  assert.equal(one.stats().pushed, 0);
});

test('an abort while queued takes the item out of the batch', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const controller = new AbortController();
  const calls = [one(1), one(2, { signal: controller.signal }), one(3)];
  controller.abort();
  const settled = await Promise.allSettled(calls);
  assert.deepEqual(batches, [[1, 3]]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(one.stats().cancelled, 1);
});

test('when all are aborted while queued, no batch leaves', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  const controller = new AbortController();
  const call = one(1, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, { name: 'AbortError' });
  await turn();
  assert.deepEqual(batches, []);
});

test('an abort in flight rejects the call; the others get their results', async () => {
  const { bulk, land } = controlled();
  const one = batch(bulk);
  const controller = new AbortController();
  const calls = [one(1, { signal: controller.signal }), one(2)];
  await turn();
  controller.abort();
  await assert.rejects(calls[0], { name: 'AbortError' });
  land();
  assert.equal(await calls[1], 2);
});

test('the signal of the bulk function aborts when every call of its batch has been aborted', async () => {
  const signals = [];
  const one = batch((_items, { signal }) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  const [a, b] = [new AbortController(), new AbortController()];
  const calls = [one(1, { signal: a.signal }), one(2, { signal: b.signal })];
  await turn();
  a.abort();
  assert.equal(signals[0].aborted, false);
  const reason = new Error('both');
  b.abort(reason);
  assert.equal(signals[0].aborted, true);
  assert.equal(signals[0].reason, reason);
  await Promise.allSettled(calls);
  await turn();
  assert.equal(one.stats().inFlight, 0);
});

test('the signal of the bulk function never aborts while a call without a signal waits', async () => {
  let seen;
  const { bulk, land } = controlled();
  const one = batch((items, context) => {
    seen = context.signal;
    return bulk(items);
  });
  const controller = new AbortController();
  const calls = [one(1, { signal: controller.signal }), one(2)];
  await turn();
  controller.abort();
  assert.equal(seen.aborted, false);
  land();
  await Promise.allSettled(calls);
  assert.equal(seen.aborted, false);
});

test('a bulk function that looks at its signal late sees that it was aborted', async () => {
  let context;
  const { bulk, land } = controlled();
  const one = batch((items, given) => {
    context = given;
    return bulk(items);
  });
  const controller = new AbortController();
  const reason = new Error('too late');
  const call = one(1, { signal: controller.signal });
  await turn();
  controller.abort(reason);
  await assert.rejects(call, reason);
  assert.equal(context.signal.aborted, true);
  assert.equal(context.signal.reason, reason);
  land();
});

test('an abort of a call whose batch was flushed but waits for its turn takes its item out', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const first = one(1);
  await turn();
  const controller = new AbortController();
  const second = one(2, { signal: controller.signal });
  const third = one(3);
  const flushed = one.flush();
  controller.abort();
  await assert.rejects(second, { name: 'AbortError' });
  land();
  await turn();
  assert.deepEqual(batches, [[1], [3]]);
  land();
  await flushed;
  assert.deepEqual(await Promise.all([first, third]), [1, 3]);
});

test('a flushed batch in which every call was aborted is not sent', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const first = one(1);
  await turn();
  const controller = new AbortController();
  const second = one(2, { signal: controller.signal });
  one.flush();
  controller.abort();
  await assert.rejects(second, { name: 'AbortError' });
  land();
  await first;
  await turn();
  assert.deepEqual(batches, [[1]]);
  const third = one(3);
  await turn();
  land();
  assert.equal(await third, 3);
});

test('an abort after the result does nothing', async () => {
  const { bulk } = echo();
  const one = batch(bulk);
  const controller = new AbortController();
  assert.equal(await one(1, { signal: controller.signal }), 1);
  controller.abort();
  assert.equal(await one(2), 2);
});

test('no listener is left on a signal that lives long, however its calls end', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const count = () => getEventListeners(signal, 'abort').length;
  const good = batch(async (items) => items);
  const bad = batch(() => Promise.reject(new Error('bad')));
  const full = batch(async (items) => items, { maxQueue: 1 });
  const closing = batch(async (items) => items);
  const calls = [];
  for (let i = 0; i < 5; i++) {
    for (const one of [good, bad, full, closing]) calls.push(one(i, { signal }));
  }
  assert.ok(count() > 0);
  await closing.close({ discard: true });
  calls.push(closing(9, { signal }));
  await Promise.allSettled(calls);
  assert.equal(count(), 0);
});

test('however many calls share a signal, it is listened to once, and let go when they have settled', async () => {
  const { bulk } = echo();
  const one = batch(bulk);
  const controller = new AbortController();
  const calls = Array.from({ length: 50 }, (_, i) => one(i, { signal: controller.signal }));
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
  await Promise.all(calls);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  const late = Array.from({ length: 20 }, (_, i) => one(i, { signal: controller.signal }));
  controller.abort(new Error('enough'));
  const outcomes = await Promise.allSettled(late);
  assert.ok(
    outcomes.every(({ status, reason }) => status === 'rejected' && reason.message === 'enough'),
  );
});
