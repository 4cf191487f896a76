/** What arrives, in what order and in what portions. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { api } from 'millrace/threads';
import {
  addon,
  codes,
  deferred,
  open,
  Receiver,
  record,
  recordSize,
  records,
  test,
  turns,
} from './helper.js';

for (const [threads, atOnce] of [
  [1, 1],
  [4, 1],
  [8, 1],
  [4, 13],
]) {
  test(`${threads} threads, ${atOnce} at once: nothing is lost, and each thread's order is kept`, async () => {
    const each = 10_000;
    const receiver = new Receiver();
    const { ring, closed } = open(api(), receiver.take, { capacity: 512, maxBatch: 100 });
    addon.produce(ring, threads, each, atOnce);
    addon.release(ring);
    // The last thread to end has the last reference.
    await closed;
    assert.equal(receiver.total, threads * each);
    assert.equal(addon.stats(ring)[0], threads * each);
    assert.ok(receiver.batches.every(([, count]) => count <= 100));
    assert.equal(receiver.buffers.size, 1);
    assert.equal([...receiver.buffers][0].byteLength, 512 * recordSize);
  });
}

test('records posted in one turn arrive in one batch, cut where the memory ends', async () => {
  const receiver = new Receiver();
  const { ring, closed } = open(api(), receiver.take, { capacity: 8 });
  for (let i = 0; i < 5; i++) assert.equal(addon.post(ring, record(i)), 0);
  await receiver.until(5);
  await turns(1);
  for (let i = 5; i < 11; i++) assert.equal(addon.post(ring, record(i)), 0);
  await receiver.until(11);
  assert.deepEqual(receiver.batches, [
    [0, 5],
    [5, 3],
    [0, 3],
  ]);
  addon.release(ring);
  await closed;
});

test('a full ring refuses, and what it refused is not in it', async () => {
  const receiver = new Receiver();
  const { ring, closed } = open(api(), receiver.take, { capacity: 4 });
  for (let i = 0; i < 4; i++) assert.equal(addon.post(ring, record(i)), 0);
  assert.equal(addon.post(ring, record(99)), codes.full);
  assert.equal(addon.post(ring, records(99, 2), 2), codes.full);
  await receiver.until(4);
  await turns(1);
  assert.equal(addon.post(ring, record(4)), 0);
  addon.release(ring);
  await closed;
  assert.equal(receiver.total, 5);
});

test('records that are posted together are all taken or none', async () => {
  const receiver = new Receiver();
  const { ring, closed } = open(api(), receiver.take, { capacity: 4 });
  assert.equal(addon.post(ring, records(0, 2), 2), 0);
  assert.equal(addon.post(ring, records(90, 3), 3), codes.full);
  assert.equal(addon.post(ring, records(2, 2), 2), 0);
  assert.equal(addon.post(ring, records(90, 5), 5), codes.invalid);
  assert.equal(addon.post(ring, records(90, 1), 0), 0);
  addon.release(ring);
  await closed;
  assert.deepEqual(receiver.batches, [[0, 4]]);
});

test('places are free when the callback has returned, not before', async () => {
  const seen = [];
  const { ring, closed } = open(
    api(),
    (buffer, first, count) => {
      seen.push([count, addon.post(ring, record(7)), new Uint32Array(buffer)[4 * first + 1]]);
    },
    { capacity: 1 },
  );
  addon.post(ring, record(5));
  await turns(3);
  assert.equal(addon.post(ring, record(6)), 0);
  addon.release(ring);
  await closed;
  assert.deepEqual(seen, [
    [1, codes.full, 5],
    [1, codes.closed, 6],
  ]);
});

test('a turn delivers at most maxBatch; other work has its turn between', async () => {
  const log = [];
  const { ring, closed } = open(api(), (_, first, count) => log.push([first, count]), {
    capacity: 32,
    maxBatch: 10,
  });
  for (let i = 0; i < 25; i++) addon.post(ring, record(i));
  let immediate = setImmediate(function again() {
    log.push('turn');
    immediate = setImmediate(again);
  });
  addon.release(ring);
  await closed;
  clearImmediate(immediate);
  const batches = log.filter((entry) => entry !== 'turn');
  assert.deepEqual(batches, [
    [0, 10],
    [10, 10],
    [20, 5],
  ]);
  const between = log.slice(log.indexOf(batches[0]), log.indexOf(batches[2]));
  assert.equal(between.filter((entry) => entry === 'turn').length, 2);
});

test('ticks and microtasks of a batch run before the next batch', async () => {
  const log = [];
  const { ring, closed } = open(
    api(),
    (_, first) => {
      log.push(`batch ${first}`);
      process.nextTick(() => log.push(`tick ${first}`));
      Promise.resolve().then(() => log.push(`microtask ${first}`));
    },
    { capacity: 2 },
  );
  addon.post(ring, record(0));
  await turns(3);
  // Two batches in one turn, as the memory ends between them.
  addon.post(ring, records(1, 2), 2);
  addon.release(ring);
  await closed;
  assert.deepEqual(log, [
    'batch 0',
    'tick 0',
    'microtask 0',
    'batch 1',
    'tick 1',
    'microtask 1',
    'batch 0',
    'tick 0',
    'microtask 0',
  ]);
});

test('the callback runs in the async context in which the ring was opened', async () => {
  const storage = new AsyncLocalStorage();
  const stores = [];
  const { ring, closed } = storage.run('of the opener', () =>
    open(api(), () => stores.push(storage.getStore())),
  );
  storage.run('of the poster', () => addon.post(ring, record(0)));
  addon.release(ring);
  await closed;
  assert.deepEqual(stores, ['of the opener']);
});

test('a callback that throws is an uncaught exception; the next batches come', async (t) => {
  const errors = [];
  const caught = (error) => errors.push(error.message);
  // The test runner has listeners of its own.
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', caught);
  t.after(() => {
    process.off('uncaughtException', caught);
    for (const other of others) process.on('uncaughtException', other);
  });
  const batches = [];
  const { ring, closed } = open(
    api(),
    (_, first, count) => {
      batches.push([first, count]);
      if (first < 6) throw new Error(`batch ${first}`);
    },
    { capacity: 8, maxBatch: 3 },
  );
  for (let i = 0; i < 8; i++) addon.post(ring, record(i));
  addon.release(ring);
  await closed;
  assert.deepEqual(batches, [
    [0, 3],
    [3, 3],
    [6, 2],
  ]);
  assert.deepEqual(errors, ['batch 0', 'batch 3']);
});

test('posts of the callback come in the next batch', async () => {
  const { promise, resolve } = deferred();
  const counts = [];
  const { ring, closed } = open(api(), (_, _first, count) => {
    counts.push(count);
    if (counts.length < 3) addon.post(ring, records(0, 2), 2);
    else resolve();
  });
  addon.post(ring, record(0));
  await promise;
  addon.release(ring);
  await closed;
  assert.deepEqual(counts, [1, 2, 2]);
});

test('a post that takes long delays what comes after it, and no more', async () => {
  const size = 65_536;
  const seen = [];
  const { ring, closed } = open(
    api(),
    (buffer, first, count) => {
      const words = new Uint32Array(buffer);
      for (let i = first; i < first + count; i++) seen.push(words[(i * size) / 4]);
    },
    { size, capacity: 2048 },
  );
  addon.flood(ring, 1000);
  let own = 0;
  const mine = new Uint8Array(size).fill(255);
  while (addon.stats(ring)[0] === 0) {
    if (addon.post(ring, mine) === 0) own++;
    await turns(1);
  }
  addon.release(ring);
  await closed;
  const others = seen.filter((number) => number !== 0xffffffff);
  assert.deepEqual(
    others,
    Array.from({ length: 1000 }, (_, i) => i),
  );
  assert.equal(seen.length, 1000 + own);
});

test('records of every size arrive whole', async () => {
  for (const size of [1, 3, 8, 100, 65_536]) {
    const seen = [];
    const { ring, closed } = open(
      api(),
      (buffer, first, count) =>
        seen.push(Buffer.from(buffer, first * size, count * size).toString('hex')),
      { size, capacity: 4 },
    );
    const sent = Buffer.from(Array.from({ length: 4 * size }, (_, i) => (i * 7 + size) & 255));
    addon.post(ring, sent.subarray(0, size));
    addon.post(ring, sent.subarray(size), 3);
    addon.release(ring);
    await closed;
    assert.deepEqual(seen, [sent.toString('hex')]);
  }
});
