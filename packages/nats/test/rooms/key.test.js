/** Messages with a key: their key travels with them, and what is superseded before it leaves does not leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { range } from '../../../millrace/test/ws/hall.js';
import { keyBytes, readKey, writeKey } from '../../dist/rooms/key.js';
import { natsServer } from '../nats.js';
import { openNode, openNodes } from './fleet.js';

const jetstream = { jetstream: true };

test('of a turn, the latest message of each key leaves for other nodes', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  for (const n of range(10)) {
    for (const key of ['k', 7, '7']) a.rooms.publish('x', `${typeof key} ${n}`, { key });
  }
  a.rooms.publish('x', 'end');
  for (const { peer } of [a, b]) {
    await peer.until((received) => received.includes('end'));
    assert.deepEqual(peer.received, ['string 9', 'number 9', 'string 9', 'end']);
  }
  const { sent, unsent } = a.fleet();
  assert.deepEqual({ sent, unsent }, { sent: 4, unsent: 0 });
});

test('messages for rooms that have members elsewhere only are apart by room', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  a.rooms.leave(a.peer.server);
  b.rooms.join(b.peer.server, 'y');
  await b.rooms.ready();
  for (const n of range(3)) {
    for (const room of ['x', 'y']) a.rooms.publish(room, `${room}${n}`, { key: 'k' });
  }
  await b.peer.until((received) => received.length === 2);
  assert.deepEqual(b.peer.received.toSorted(), ['x2', 'y2']);
  assert.equal(a.rooms.stats().superseded, 4);
});

test('a key of another node is a key here: a slow member gets its latest message', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2, {}, { peers: 2 });
  const [slow, healthy] = b.peers;
  slow.client.pause();
  const sees = (text) => healthy.until((received) => received.at(-1) === text);
  b.rooms.publish('x', 'first', { key: 'first' });
  // More than a window of the slow one.
  a.rooms.publish('x', Buffer.alloc(20_000));
  a.rooms.publish('x', 'filled');
  await sees('filled');
  for (const n of range(20)) {
    a.rooms.publish('x', `k${n}`, { key: 'k' });
    await sees(`k${n}`);
  }
  b.rooms.publish('x', 'own k', { key: 'k' });
  await sees('own k');
  slow.client.resume();
  await slow.until((received) => received.includes('own k'));
  assert.deepEqual(
    slow.received.filter((message) => typeof message === 'string'),
    ['first', 'filled', 'own k'],
  );
});

test('a durable room stores what leaves, and gives back what a superseded message reserved', async (t) => {
  const server = await natsServer(t, jetstream);
  const [a, b] = await openNodes(t, server.url, 2, { durable: true });
  for (const turn of range(3)) {
    for (const n of range(5)) a.rooms.publish('x', `${turn}.${n}`, { key: 'k' });
    await a.rooms.acknowledged();
    // Else the next one may find it queued there, and take its place.
    await b.peer.until((received) => received.includes(`${turn}.4`));
  }
  assert.deepEqual(b.peer.received, ['0.4', '1.4', '2.4']);
  const { stored, backlog, backlogBytes } = a.fleet().durable;
  assert.deepEqual({ stored, backlog, backlogBytes }, { stored: 3, backlog: 0, backlogBytes: 0 });
});

test('a key that cannot travel is refused, and nobody gets its message', async (t) => {
  const server = await natsServer(t);
  const node = await openNode(t, server.url);
  await node.rooms.ready();
  for (const key of [null, true, {}, 1n, Symbol('s'), 'x'.repeat(65_536)]) {
    assert.throws(() => node.rooms.publish('x', 'no', { key }), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /with the option 'across' it must/,
    });
  }
  for (const key of ['', Number.NaN, Number.POSITIVE_INFINITY, -0, 'x'.repeat(65_535)]) {
    node.rooms.publish('x', 'yes', { key });
  }
  assert.deepEqual(
    await node.peer.take(),
    Array.from({ length: 5 }, () => 'yes'),
  );
});

test('a record is read as it was written, and a malformed one not at all', () => {
  for (const key of ['', 'k', '7', 7, -0.5, Number.NaN, 'ü€😀']) {
    const record = writeKey(key, Buffer.from('payload'));
    assert.equal(record.length, keyBytes(key) + 7);
    assert.deepEqual(readKey(record), { key, data: Buffer.from('payload') });
    for (let length = 0; length < keyBytes(key); length++) {
      assert.equal(readKey(record.subarray(0, length)), null);
    }
    for (const type of [0, 3, 255]) {
      record[2] = type;
      assert.equal(readKey(record), null);
    }
  }
});
