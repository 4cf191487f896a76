import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, range, turn } from './hall.js';

/** Two sockets in room `x`. */
async function setUp(t, options) {
  const hall = await openHall(t);
  const peers = await hall.connectMany(2);
  const rooms = new Rooms({ maxDeferral: 3_600_000, ...options });
  for (const { server } of peers) rooms.join(server, 'x');
  return { peers, rooms, writes: peers.map((peer) => peer.writes()) };
}

const counts = (writes) => writes.map((chunks) => chunks.length);
const overloaded = { name: 'MillraceError', code: 'MILLRACE_E_OVERLOADED' };
const closed = { name: 'MillraceError', code: 'MILLRACE_E_CLOSED' };

test('direct: a message leaves inside publish', async (t) => {
  const { peers, rooms, writes } = await setUp(t, { policy: 'direct' });
  rooms.publish('x', '1');
  assert.deepEqual(counts(writes), [1, 1]);
  rooms.publish('x', '2', { priority: 'high', except: peers[0].server });
  rooms.send(peers[0].server, '3');
  assert.deepEqual(counts(writes), [2, 2]);
  rooms.leave(peers[1].server, 'x');
  rooms.publish('x', '4');
  assert.deepEqual(await peers[0].take(), ['1', '3', '4']);
  assert.deepEqual(await peers[1].take(), ['1', '2']);
  assert.equal(rooms.stats().delivered, 4);
});

test('fixed: messages are held for maxDelay', async (t) => {
  const { peers, rooms, writes } = await setUp(t, { policy: 'fixed', maxDelay: 5 });
  rooms.publish('x', '1');
  rooms.publish('x', '2');
  await turn();
  rooms.publish('x', '3');
  await Promise.all(peers.map((peer) => peer.until((received) => received.length === 3)));
  assert.deepEqual(peers[0].received, ['1', '2', '3']);
  assert.equal(rooms.stats().trigger.delay >= 1, true);
  assert.equal(writes[0].length, rooms.stats().batches);
});

test('fixed: HIGH, a full batch, the threshold and flush each end the hold', async (t) => {
  const options = { policy: 'fixed', maxDelay: 60_000, maxBatch: 5, threshold: 3 };
  const { peers, rooms } = await setUp(t, options);
  const [peer] = peers;
  rooms.publish('x', '1');
  assert.deepEqual(await peer.take(), []);
  rooms.publish('x', 'h', { priority: 'high' });
  assert.deepEqual(await peer.take(), ['h', '1']);
  for (const n of '123') rooms.publish('x', n);
  assert.deepEqual(await peer.take(), ['1', '2', '3']);
  for (const n of '12345') rooms.publish('x', n);
  assert.deepEqual(await peer.take(), ['1', '2', '3', '4', '5']);
  rooms.publish('x', '1');
  assert.deepEqual(await peer.take(), []);
  rooms.flush();
  assert.deepEqual(await peer.take(), ['1']);
  const { priority, threshold, size, flush } = rooms.stats().trigger;
  assert.deepEqual([priority, threshold, size, flush], [1, 1, 1, 1]);
});

test('fixed: who leaves, joins or closes during the hold gets what it should', async (t) => {
  const { peers, rooms } = await setUp(t, { policy: 'fixed', maxDelay: 60_000 });
  const [a, b] = peers;
  rooms.publish('x', '1');
  await turn();
  rooms.leave(a.server, 'x');
  rooms.publish('x', '2');
  await turn();
  rooms.join(a.server, 'x');
  rooms.publish('x', '3');
  rooms.flush();
  assert.deepEqual(await a.take(), ['1', '3']);
  assert.deepEqual(await b.take(), ['1', '2', '3']);
  rooms.publish('x', '4');
  b.server.terminate();
  await b.closed;
  rooms.flush();
  assert.deepEqual(await a.take(), ['4']);
});

test('adaptive, the default, with a delay allowed but nothing to gain: the end of the turn', async (t) => {
  for (const options of [{}, { policy: 'adaptive', maxDelay: 60_000 }]) {
    const { peers, rooms, writes } = await setUp(t, options);
    rooms.publish('x', '1');
    rooms.publish('x', '2');
    assert.deepEqual(counts(writes), [0, 0]);
    await turn();
    assert.deepEqual(counts(writes), [1, 1]);
    assert.deepEqual(await peers[0].take(), ['1', '2']);
  }
});

test('set switches live: what is queued leaves first', async (t) => {
  const { peers, rooms, writes } = await setUp(t);
  rooms.publish('x', '1');
  assert.equal(rooms.set({ policy: 'direct' }), rooms);
  assert.deepEqual(counts(writes), [1, 1]);
  rooms.publish('x', '2');
  assert.deepEqual(counts(writes), [2, 2]);
  rooms.set({ policy: 'fixed', maxDelay: 60_000 });
  rooms.publish('x', '3');
  await turn();
  assert.deepEqual(counts(writes), [2, 2]);
  rooms.set({ policy: 'adaptive', maxDelay: 0 });
  assert.deepEqual(counts(writes), [3, 3]);
  rooms.publish('x', '4');
  assert.deepEqual(await peers[0].take(), ['1', '2', '3', '4']);
});

test('a full queue refuses the message, and nobody gets any of it', async (t) => {
  const { peers, rooms } = await setUp(t, { maxQueue: 3 });
  for (const n of '123') rooms.publish('x', n);
  assert.throws(() => rooms.publish('x', '4'), overloaded);
  assert.throws(() => rooms.publish('x', '5', { priority: 'high' }), overloaded);
  assert.throws(() => rooms.send(peers[0].server, '6'), overloaded);
  assert.throws(() => rooms.publish('x', '7'), /3 events are queued and maxQueue is 3/);
  assert.equal(rooms.publish('nowhere', '8'), 0);
  assert.equal(rooms.stats().refused.overloaded, 4);
  for (const peer of peers) assert.deepEqual(await peer.take(), ['1', '2', '3']);
  rooms.publish('x', '9');
  for (const peer of peers) assert.deepEqual(await peer.take(), ['9']);
});

test('maxQueueBytes counts the bytes of whole frames', async (t) => {
  const { peers, rooms } = await setUp(t, { maxQueueBytes: 300 });
  rooms.publish('x', 'a'.repeat(98));
  rooms.publish('x', 'b'.repeat(98));
  assert.throws(() => rooms.publish('x', 'c'.repeat(99)), overloaded);
  rooms.publish('x', 'd'.repeat(98));
  assert.throws(() => rooms.publish('x', ''), /300 bytes are queued, the event has 2/);
  assert.deepEqual(
    (await peers[1].take()).map((text) => text[0]),
    ['a', 'b', 'd'],
  );
});

test('close writes what is queued, refuses the rest, and leaves sockets open', async (t) => {
  const { peers, rooms } = await setUp(t, { policy: 'fixed', maxDelay: 60_000 });
  const [a] = peers;
  rooms.publish('x', '1');
  rooms.send(a.server, '2');
  rooms.publish('x', 'h', { priority: 'high' });
  assert.equal(rooms.close(), undefined);
  rooms.close();
  assert.throws(() => rooms.publish('x', '3'), closed);
  assert.throws(() => rooms.publish('nowhere', '4'), closed);
  assert.throws(() => rooms.send(a.server, '5'), closed);
  assert.equal(rooms.join(a.server, 'x'), false);
  assert.equal(rooms.leave(a.server, 'x'), false);
  assert.equal(rooms.size('x'), 0);
  rooms.flush();
  rooms.set({ policy: 'direct' });
  rooms.close();
  assert.equal(rooms.stats().refused.closed, 3);
  assert.equal(rooms.stats().queued, 0);
  assert.deepEqual(await a.take(), ['h', '1', '2']);
  assert.deepEqual(await peers[1].take(), ['h', '1']);
  a.server.send('still open');
  assert.deepEqual(await a.take(), ['still open']);
});

test('flush writes within the call and leaves the turn nothing to do', async (t) => {
  const { peers, rooms, writes } = await setUp(t);
  rooms.flush();
  assert.deepEqual(counts(writes), [0, 0]);
  for (const n of range(3)) rooms.publish('x', `${n}`);
  rooms.flush();
  assert.deepEqual(counts(writes), [1, 1]);
  rooms.publish('x', '3');
  assert.deepEqual(await peers[0].take(), ['0', '1', '2', '3']);
  assert.deepEqual(rooms.stats().trigger.flush, 1);
});
