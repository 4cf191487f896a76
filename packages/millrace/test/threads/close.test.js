/** How a ring ends, in its own environment. */
import assert from 'node:assert/strict';
import { api } from 'millrace/threads';
import { addon, codes, open, Receiver, record, recordSize, test, turns } from './helper.js';

test('closing delivers what is queued, refuses later posts, and works once', async () => {
  const receiver = new Receiver();
  const { ring, closed } = open(api(), receiver.take);
  for (let i = 0; i < 3; i++) assert.equal(addon.post(ring, record(i)), 0);
  addon.close(ring);
  assert.equal(addon.post(ring, record(3)), codes.closed);
  addon.close(ring);
  assert.equal(receiver.total, 0);
  await closed;
  assert.equal(receiver.total, 3);
  addon.close(ring);
  assert.equal(addon.post(ring, record(3)), codes.closed);
  await turns(3);
  assert.equal(addon.stats(ring)[3], 1);
  addon.release(ring);
});

test('a ring that the callback closes delivers its rest', async () => {
  const batches = [];
  const { ring, closed } = open(
    api(),
    (_, first, count) => {
      batches.push([first, count]);
      addon.close(ring);
    },
    { maxBatch: 2 },
  );
  for (let i = 0; i < 5; i++) addon.post(ring, record(i));
  await closed;
  assert.deepEqual(batches, [
    [0, 2],
    [2, 2],
    [4, 1],
  ]);
  addon.release(ring);
});

test('closing while threads post: all accepted records arrive, and every thread is notified', async () => {
  const receiver = new Receiver();
  const { ring, closed } = open(api(), receiver.take, { capacity: 64, joinsLate: 1 });
  addon.produce(ring, 4, 0, 1);
  await receiver.until(5000);
  addon.close(ring);
  await closed;
  addon.join(ring);
  const [taken, , code] = addon.stats(ring);
  assert.equal(receiver.total, taken);
  assert.equal(-code, codes.closed);
  addon.release(ring);
});

test('the release of the last reference closes', async () => {
  const { ring, closed } = open(api(), () => {});
  addon.release(ring);
  await closed;
});

test('ticks and microtasks of closed() run right after it', async () => {
  const log = [];
  await new Promise((resolve) => {
    const onClosed = () => {
      setImmediate(() => resolve(log.push('turn')));
      process.nextTick(() => log.push('tick'));
      Promise.resolve().then(() => log.push('microtask'));
    };
    addon.release(addon.open(api(), () => {}, recordSize, 0, 0, 0, onClosed));
  });
  assert.deepEqual(log, ['tick', 'microtask', 'turn']);
});

test('the buffer can be read after the ring has gone', async () => {
  let kept;
  const { ring, closed } = open(
    api(),
    (buffer) => {
      kept = new Uint32Array(buffer);
    },
    { capacity: 4 },
  );
  addon.post(ring, record(41));
  addon.release(ring);
  await closed;
  await turns(3);
  assert.equal(kept.byteLength, 4 * recordSize);
  assert.equal(kept[1], 41);
});

test('many rings at once, and one after the other', async () => {
  for (let round = 0; round < 20; round++) {
    const receivers = Array.from({ length: 20 }, () => new Receiver());
    const rings = receivers.map((receiver) => open(api(), receiver.take, { capacity: 16 }));
    for (const { ring } of rings) {
      addon.produce(ring, 1, 50, 1);
      addon.release(ring);
    }
    await Promise.all(rings.map(({ closed }) => closed));
    for (const receiver of receivers) assert.equal(receiver.total, 50);
  }
});
