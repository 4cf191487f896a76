/** What write() returns, 'drain' and the bounds: as without coalescing while the kernel takes what comes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { arms, fill, openPair, range, systemWrites, turn } from './pair.js';

const mark = 16 * 1024;

/** Runs the same on a plain and on a coalesced socket, and compares what it returns. */
async function compare(t, options, run) {
  const results = {};
  for (const [name, arm] of Object.entries(arms)) {
    const pair = await openPair(t, { highWaterMark: mark, side: 'server', ...options });
    arm(pair.socket);
    results[name] = await run(pair);
  }
  assert.deepEqual(results.coalesced, results.plain);
  return results.coalesced;
}

/** Writes of these sizes, one turn after the other; gives what they returned and how often it drained. */
async function writeAll({ socket, received }, turns) {
  assert.equal(socket.writableHighWaterMark, mark);
  let drains = 0;
  socket.on('drain', () => drains++);
  const returned = [];
  for (const sizes of turns) {
    for (const size of sizes) returned.push(socket.write(Buffer.alloc(size)));
    await turn();
  }
  await received.length(turns.flat().reduce((sum, size) => sum + size, 0));
  return { returned, drains };
}

test('write() returns false for the same writes, and drains as often', async (t) => {
  const turns = [
    [10, 10, 10],
    [mark],
    [mark - 1, mark - 1, mark - 1],
    [10, mark - 10, 10],
    [10, mark - 11, 10, 10],
    [10, mark, mark + 1, 10],
    range(100).map((n) => n * 37),
    [0, mark, 0],
  ];
  await compare(t, {}, (pair) => writeAll(pair, turns));
});

test('strings count by their characters, as in the stream', async (t) => {
  await compare(t, {}, async ({ socket }) => {
    const returned = [];
    for (const length of [1, 1, mark - 1, mark, 1]) {
      returned.push(socket.write('界'.repeat(length)));
    }
    await turn();
    return returned;
  });
});

test('with a high-water mark of 0 nothing waits', async (t) => {
  const { socket } = await openPair(t, { side: 'server', highWaterMark: 0 });
  const coalescer = coalesce(socket);
  const writes = systemWrites(socket);
  for (const n of range(4)) socket.write(`${n}`);
  assert.deepEqual(writes, [1, 1, 1, 1]);
  assert.equal(coalescer.stats().coalesced, 0);
});

test('held writes leave before they reach the high-water mark', async (t) => {
  const { socket } = await openPair(t, { side: 'server', highWaterMark: mark });
  coalesce(socket);
  const writes = systemWrites(socket);
  for (const _ of range(20)) {
    socket.write(Buffer.alloc(mark / 4));
    assert.ok(socket.writableLength < mark);
  }
  await turn();
  assert.deepEqual(writes, [1, 3, 3, 3, 3, 3, 3, 1]);
});

test('held writes leave when they reach maxPendingBytes', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket, { maxPendingBytes: 100 });
  const writes = systemWrites(socket);
  for (const _ of range(12)) socket.write('x'.repeat(25));
  assert.deepEqual(writes, [1, 4, 4]);
  socket.write('x'.repeat(25 + 1));
  assert.deepEqual(writes, [1, 4, 4, 4]);
  await turn();
  assert.deepEqual(writes, [1, 4, 4, 4]);
  await received.length(12 * 25 + 26);
});

for (const [name, arm] of Object.entries(arms)) {
  test(`a peer that does not read: false at the mark, one drain, nothing lost: ${name}`, async (t) => {
    const { socket, peer, received } = await openPair(t, { side: 'server', highWaterMark: mark });
    arm(socket);
    peer.pause();
    const { bytes, empty } = await fill(socket);
    assert.equal(socket.write('x'), false);
    let drains = 0;
    const drained = new Promise((resolve) =>
      socket.on('drain', () => {
        drains++;
        resolve();
      }),
    );
    const called = [];
    for (const n of range(10)) socket.write(`${n}`, () => called.push(n));
    await turn();
    assert.deepEqual(called, []);
    assert.equal(drains, 0);
    empty();
    peer.resume();
    await drained;
    await received.length(bytes + 11);
    assert.equal(received.text().slice(-10), '0123456789');
    assert.equal(drains, 1);
    assert.deepEqual(called, range(10));
    assert.equal(socket.writableLength, 0);
  });
}

for (const [name, arm] of Object.entries(arms)) {
  test(`while the kernel takes nothing, false comes at the high-water mark: ${name}`, async (t) => {
    const large = 1024 * 1024;
    const { socket, peer } = await openPair(t, { side: 'server', highWaterMark: large });
    arm(socket);
    peer.pause();
    let refused = 0;
    for (let n = 0; refused < 100; n++) {
      const taken = socket.write(Buffer.alloc(1 + ((n * 7919) % (64 * 1024))));
      assert.equal(taken, socket.writableLength < large);
      if (!taken) refused++;
      if (n % 20 === 0) await turn();
    }
    let drains = 0;
    socket.on('drain', () => drains++);
    const drained = new Promise((resolve) => socket.once('drain', resolve));
    peer.resume();
    await drained;
    assert.equal(drains, 1);
  });
}

test('while the kernel takes nothing the stream gathers, and nothing is held', async (t) => {
  const { socket, peer, received } = await openPair(t, { side: 'server', highWaterMark: mark });
  const coalescer = coalesce(socket);
  peer.pause();
  const { bytes, empty } = await fill(socket);
  const { flushes, coalesced } = coalescer.stats();
  const writes = systemWrites(socket);
  for (const n of range(10)) socket.write(`${n}`);
  assert.equal(socket.writableCorked, 0);
  await turn();
  assert.deepEqual(writes, []);
  empty();
  peer.resume();
  await received.length(bytes + 10);
  assert.ok(writes.length <= 2, `${writes}`);
  assert.deepEqual(coalescer.stats(), { ...coalescer.stats(), flushes, coalesced });
});
