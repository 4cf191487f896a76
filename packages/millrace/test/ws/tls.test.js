import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { certificate } from './certificate.js';
import { openHall, range, stall, texts, turn } from './hall.js';

async function setUp(t, options) {
  const hall = await openHall(t, options, createServer(certificate()));
  return hall.connectMany(2, { rejectUnauthorized: false });
}

test('members over TLS get everything, one write a turn', async (t) => {
  const [a, b] = await setUp(t);
  const rooms = new Rooms({ maxPending: 64 * 1024 * 1024 });
  for (const { server } of [a, b]) rooms.join(server, 'x');
  assert.ok(a.socket.encrypted);
  const writes = a.writes();
  const big = Buffer.from(range(1024 * 1024).map((n) => n % 251));
  for (const n of range(20)) rooms.publish('x', `text ${n}`);
  rooms.publish('x', big);
  rooms.publish('x', '界');
  await turn();
  assert.equal(writes.length, 1);
  for (const peer of [a, b]) {
    await peer.until((received) => received.length === 22);
    assert.deepEqual(peer.received, [...range(20).map((n) => `text ${n}`), big, '界']);
  }
});

test('a slow member over TLS gets what waited when it reads again', async (t) => {
  const [slow, other] = await setUp(t);
  const rooms = new Rooms();
  for (const { server } of [slow, other]) rooms.join(server, 'x');
  await stall(slow);
  for (const n of range(30)) {
    rooms.publish('x', `${n}`);
    await turn();
  }
  const expected = range(30).map(String);
  assert.deepEqual(await other.take(), expected);
  slow.client.resume();
  await slow.until((received) => texts(received).length === 30);
  assert.deepEqual(texts(slow.received), expected);
});
