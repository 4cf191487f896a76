// flush and close: what they send, and when their promises resolve.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { child } from '../emitter/helper.js';
import { controlled, echo, turn } from './helper.js';

test('flush sends what is queued inside the call, and resolves when it has settled', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk, { policy: 'fixed', maxDelay: 60_000 });
  const call = one(1);
  let flushed = false;
  const flush = one.flush().then(() => {
    flushed = true;
  });
  assert.deepEqual(batches, [[1]]);
  await turn();
  assert.equal(flushed, false);
  land();
  await flush;
  assert.equal(await call, 1);
});

test('flush waits for the calls made so far, not for later ones', async () => {
  const { bulk, land } = controlled();
  const one = batch(bulk);
  const first = one(1);
  const flush = one.flush();
  const second = one(2);
  land();
  await flush;
  await first;
  await turn();
  assert.equal(one.stats().inFlight, 1);
  land();
  await second;
});

test('flush with nothing to wait for resolves', async () => {
  const one = batch(echo().bulk);
  assert.equal(await one.flush(), undefined);
});

test('flush resolves when calls fail, too', async () => {
  const one = batch(() => Promise.reject(new Error('bad')));
  const call = one(1);
  const [flush, failed] = await Promise.allSettled([one.flush(), call]);
  assert.equal(flush.status, 'fulfilled');
  assert.equal(failed.reason.message, 'bad');
});

test('flush keeps concurrency: with a batch in flight the next one waits for it', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const calls = [one(1)];
  await turn();
  calls.push(one(2));
  const flush = one.flush();
  assert.deepEqual(batches, [[1]]);
  land();
  await turn();
  assert.deepEqual(batches, [[1], [2]]);
  land();
  await flush;
  await Promise.all(calls);
});

test('close sends what is queued, refuses later calls, and resolves when all have settled', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const calls = [one(1)];
  await turn();
  calls.push(one(2));
  let closed = false;
  const closing = one.close().then(() => {
    closed = true;
  });
  await assert.rejects(one(3), { code: 'MILLRACE_E_CLOSED' });
  land();
  await turn();
  assert.equal(closed, false);
  assert.deepEqual(batches, [[1], [2]]);
  land();
  await closing;
  assert.deepEqual(await Promise.all(calls), [1, 2]);
});

test('close({ discard: true }) rejects what is queued; what is in flight returns', async () => {
  const { bulk, batches, land } = controlled();
  const one = batch(bulk);
  const first = one(1);
  await turn();
  const second = one(2);
  const closing = one.close({ discard: true });
  land();
  const [a, b] = await Promise.allSettled([first, second, closing]);
  assert.equal(a.value, 1);
  assert.equal(b.reason.code, 'MILLRACE_E_CANCELLED');
  assert.deepEqual(batches, [[1]]);
});

test('close is idempotent, and each of its promises resolves', async () => {
  const one = batch(echo().bulk);
  const call = one(1);
  await Promise.all([one.close(), one.close(), one.close({ discard: true }), one.flush()]);
  assert.equal(await call, 1);
});

test('flush and close from inside the bulk function', async () => {
  const batches = [];
  let closing;
  const one = batch(
    async (items) => {
      batches.push(items);
      if (batches.length === 1) {
        one.flush();
        closing = one.close();
      }
      return items;
    },
    { maxBatch: 1 },
  );
  assert.deepEqual(await Promise.all([one(1), one(2)]), [1, 2]);
  await closing;
  assert.deepEqual(batches, [[1], [2]]);
  await assert.rejects(one(3), { code: 'MILLRACE_E_CLOSED' });
});

test('a process with nothing queued ends by itself, and one with a held batch after it', async () => {
  const { code, lines } = await child(`
    import { batch } from 'millrace';
    batch(async (items) => items);
    const one = batch(async (items) => (console.log(items.join()), items), { policy: 'fixed', maxDelay: 10 });
    one(1);
    one(2);
  `);
  assert.deepEqual({ code, lines }, { code: 0, lines: ['1,2'] });
});
