/** How the size of reads follows what comes, and what keeps it. */
import assert from 'node:assert/strict';
import { enlarge } from 'millrace/net';
import { drained, found, growTo, settled, nativeTest as test, trickle } from './bulk.js';
import { openPair, turn } from './pair.js';

const kibi = 1024;

/** A pair whose socket is enlarged and read; `largest()` gives the largest chunk since it was asked the last time. */
async function open(t, options, side) {
  const pair = await openPair(t, { side });
  const enlarged = enlarge(pair.socket, options);
  await found(enlarged);
  let largest = 0;
  pair.socket.on('data', (chunk) => {
    largest = Math.max(largest, chunk.length);
  });
  const takeLargest = () => {
    const taken = largest;
    largest = 0;
    return taken;
  };
  return { ...pair, enlarged, largest: takeLargest };
}

for (const side of ['client', 'server']) {
  test(`the reads of a ${side} grow in bulk and shrink when little comes`, async (t) => {
    const it = await open(t, { shrinkAfter: 4 }, side);
    assert.equal(it.enlarged.stats().readSize, 64 * kibi);
    await growTo(256 * kibi, it);
    await settled(it);
    assert.ok(it.largest() > 64 * kibi);
    const { grown, fullReads, reads, bytes } = it.enlarged.stats();
    assert.equal(bytes, it.socket.bytesRead);
    assert.ok(grown >= 2 && fullReads >= 4 && reads >= fullReads);
    // Three to fall from 256 KB in two steps, if the last reads in bulk were no part of it; and none too many.
    await trickle(8, it);
    const after = it.enlarged.stats();
    assert.equal(after.readSize, 64 * kibi);
    assert.ok(after.shrunk >= 2);
    it.largest();
    await growTo(256 * kibi, it);
    await settled(it);
    assert.ok(it.largest() > 64 * kibi);
  });
}

test('the options are the bounds of the size', async (t) => {
  const it = await open(t, {
    minRead: 4 * kibi,
    maxRead: 1024 * kibi,
    growAfter: 1,
    shrinkAfter: 1,
  });
  assert.equal(it.enlarged.stats().readSize, 4 * kibi);
  await growTo(1024 * kibi, it);
  await settled(it);
  await trickle(8, it);
  assert.equal(it.enlarged.stats().readSize, 4 * kibi);
});

test('the receive buffer is raised after full reads of the largest size, as it was asked', async (t) => {
  const options = { maxRead: 64 * kibi, raiseAfter: 1, receiveBuffer: 1024 * kibi };
  const it = await open(t, options);
  await growTo(64 * kibi, it);
  assert.equal(it.enlarged.stats().receiveBuffer, 0);
  while (it.enlarged.stats().receiveBuffer === 0) {
    if (!it.peer.write(Buffer.alloc(1 << 20))) await drained(it.peer);
  }
  // The system may allow less.
  assert.ok(it.enlarged.stats().receiveBuffer <= 1024 * kibi);
  assert.equal(it.enlarged.stats().sendBuffer, 0);

  const left = await open(t, { receiveBuffer: 0, raiseAfter: 1 });
  await growTo(256 * kibi, left);
  for (let n = 0; n < 32; n++)
    if (!left.peer.write(Buffer.alloc(1 << 20))) await drained(left.peer);
  assert.equal(left.enlarged.stats().receiveBuffer, 0);
});

test('maxTurn ends the turn of a socket', async (t) => {
  const it = await open(t, { maxTurn: 256 * kibi });
  while (it.enlarged.stats().yielded === 0) {
    if (!it.peer.write(Buffer.alloc(1 << 20))) await drained(it.peer);
  }
  await settled(it);
  const unlimited = await open(t, { maxTurn: 0 });
  await growTo(256 * kibi, unlimited);
  await settled(unlimited);
  assert.equal(unlimited.enlarged.stats().yielded, 0);
});

test('the learned size outlives a pause', async (t) => {
  const it = await open(t, {});
  await growTo(256 * kibi, it);
  await settled(it);
  for (let n = 0; n < 3; n++) {
    it.socket.pause();
    // More than a paused stream takes in: it stops its handle.
    for (let mebibytes = 0; mebibytes < 4; mebibytes++) it.peer.write(Buffer.alloc(1 << 20));
    while (it.socket._handle.reading) await turn();
    const { reads, readSize } = it.enlarged.stats();
    assert.equal(readSize, 256 * kibi);
    it.largest();
    it.socket.resume();
    await settled(it);
    assert.ok(it.largest() > 64 * kibi);
    assert.ok(it.enlarged.stats().reads > reads);
    assert.equal(it.enlarged.stats().bytes, it.socket.bytesRead);
  }
});

test('a reader that stops the handle at each chunk lets reads grow all the same', {}, async (t) => {
  const { socket, peer } = await openPair(t);
  const enlarged = enlarge(socket);
  await found(enlarged);
  let stopped = 0;
  const { readStop } = socket._handle;
  socket._handle.readStop = function () {
    stopped++;
    return readStop.call(this);
  };
  const chunk = Buffer.alloc(1 << 20);
  const sending = (async () => {
    while (!peer.destroyed) if (!peer.write(chunk)) await drained(peer);
  })();
  for await (const _ of socket) if (enlarged.stats().readSize === 256 * kibi) break;
  peer.destroy();
  await sending;
  assert.ok(stopped > 0);
});

test('off() gives plain reads back, in the middle of a stream too', async (t) => {
  const it = await open(t, {});
  const own = () =>
    Object.getOwnPropertyNames(it.socket._handle).filter((name) =>
      ['close', 'readStart', 'reset'].includes(name),
    );
  const listeners = it.socket.listenerCount('connect');
  assert.deepEqual(own().sort(), ['close', 'readStart', 'reset']);
  await growTo(256 * kibi, it);
  it.enlarged.off();
  it.largest();
  assert.equal(it.enlarged.active, false);
  assert.equal(it.enlarged.stats(), null);
  assert.deepEqual(own(), []);
  assert.equal(it.socket.listenerCount('connect'), listeners - 1);
  for (let n = 0; n < 8; n++) if (!it.peer.write(Buffer.alloc(1 << 20))) await drained(it.peer);
  await settled(it);
  assert.equal(it.largest(), 64 * kibi);
  it.enlarged.off();
  const again = enlarge(it.socket);
  assert.notEqual(again, it.enlarged);
  await found(again);
  await growTo(256 * kibi, { ...it, enlarged: again });
});
