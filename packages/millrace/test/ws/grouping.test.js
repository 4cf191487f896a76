import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, range, turn } from './hall.js';

test('messages published in a turn reach each member in one write', async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(5);
  const rooms = new Rooms();
  for (const { server } of peers) rooms.join(server, 'x');
  const writes = peers.map((peer) => peer.writes());
  const texts = range(100).map((n) => `message ${n}`);
  for (const text of texts) rooms.publish('x', text);
  assert.deepEqual(writes, [[], [], [], [], []], 'nothing leaves inside publish');
  await turn();
  assert.deepEqual(
    writes.map((chunks) => chunks.length),
    [1, 1, 1, 1, 1],
  );
  assert.equal(rooms.stats().sends, 5);
  assert.equal(rooms.stats().deliveries, 500);
  for (const peer of peers) assert.deepEqual(await peer.take(), texts);
});

test('members of one room share the bytes of one encoding', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  for (const { server } of [a, b]) rooms.join(server, 'x');
  const [toA, toB] = [a.writes(), b.writes()];
  rooms.publish('x', '1');
  rooms.publish('x', '2');
  await turn();
  assert.equal(toA.length, 1);
  assert.equal(toA[0], toB[0]);
});

test('several rooms, own messages and exceptions also share one write a socket', async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(3);
  const [a, b, c] = peers;
  const rooms = new Rooms();
  for (const { server } of peers) for (const name of ['x', 'y', 'z']) rooms.join(server, name);
  const writes = peers.map((peer) => peer.writes());
  rooms.publish('x', 'x1');
  rooms.publish('y', 'y1', { except: a.server });
  rooms.send(b.server, 'b1');
  rooms.publish('x', 'x2', { except: c.server });
  rooms.publish('z', 'z1');
  await turn();
  assert.deepEqual(
    writes.map((chunks) => chunks.length),
    [1, 1, 1],
  );
  assert.deepEqual(await a.take(), ['x1', 'x2', 'z1']);
  assert.deepEqual(await b.take(), ['x1', 'y1', 'b1', 'x2', 'z1']);
  assert.deepEqual(await c.take(), ['x1', 'y1', 'z1']);
});

test('a socket in several rooms gets them in the order of publishing', async (t) => {
  const hall = await openHall(t);
  const [both, one] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(both.server, 'x');
  rooms.join(both.server, 'y');
  rooms.join(one.server, 'y');
  for (const n of range(10)) {
    rooms.publish('x', `x${n}`);
    rooms.publish('y', `y${n}`);
  }
  assert.deepEqual(
    await both.take(),
    range(10).flatMap((n) => [`x${n}`, `y${n}`]),
  );
  assert.deepEqual(
    await one.take(),
    range(10).map((n) => `y${n}`),
  );
});

test('send keeps its place among what the rooms of the socket publish', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms();
  rooms.send(a.server, '0');
  rooms.join(a.server, 'x');
  rooms.publish('x', '1');
  rooms.send(a.server, '2');
  rooms.publish('x', '3');
  rooms.send(a.server, '4');
  assert.deepEqual(await a.take(), ['0', '1', '2', '3', '4']);
});

test('HIGH leaves before NORMAL, LOW after it, each first in first out', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  // However slow the machine is, nothing LOW gets old enough to count as NORMAL.
  const rooms = new Rooms({ maxDeferral: 3_600_000 });
  rooms.join(a.server, 'x');
  rooms.join(a.server, 'y');
  rooms.join(b.server, 'x');
  rooms.publish('x', 'l1', { priority: 'low' });
  rooms.publish('x', 'n1');
  rooms.publish('y', 'h1', { priority: 'high' });
  rooms.publish('x', 'n2', { priority: 'normal' });
  rooms.publish('x', 'h2', { priority: 'high' });
  rooms.publish('y', 'l2', { priority: 'low' });
  rooms.send(a.server, 'l3', { priority: 'low' });
  rooms.send(a.server, 'n3');
  rooms.send(a.server, 'h3', { priority: 'high' });
  assert.deepEqual(await a.take(), ['h1', 'h2', 'h3', 'n1', 'n2', 'n3', 'l1', 'l2', 'l3']);
  assert.deepEqual(await b.take(), ['h2', 'n1', 'n2', 'l1']);
});

test('the exception is for one message of one socket', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  for (const { server } of [a, b]) rooms.join(server, 'x');
  rooms.publish('x', '1', { except: a.server });
  rooms.publish('x', '2', { except: b.server });
  rooms.publish('x', '3');
  assert.deepEqual(await a.take(), ['2', '3']);
  assert.deepEqual(await b.take(), ['1', '3']);
  rooms.publish('x', '4');
  assert.deepEqual(await a.take(), ['4']);
  assert.deepEqual(await b.take(), ['4']);
});

test('nobody is written to for a room that is not there, empty, or has only the exception', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms();
  rooms.publish('nowhere', '1');
  rooms.join(a.server, 'x');
  assert.equal(rooms.publish('x', '2', { except: a.server }), 0);
  rooms.leave(a.server, 'x');
  rooms.publish('x', '3');
  await turn();
  assert.equal(rooms.stats().sends, 0);
  assert.deepEqual(await a.take(), []);
});

test('turns stay apart and in order', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms({ maxDeferral: 3_600_000 });
  rooms.join(a.server, 'x');
  const writes = a.writes();
  for (const n of range(10)) {
    rooms.publish('x', `${n} low`, { priority: 'low' });
    rooms.publish('x', `${n} high`, { priority: 'high' });
    await turn();
  }
  assert.equal(writes.length, 10);
  assert.deepEqual(
    await a.take(),
    range(10).flatMap((n) => [`${n} high`, `${n} low`]),
  );
});

test('a burst of many more messages than a batch holds arrives whole and in order', async (t) => {
  const hall = await openHall(t);
  const [one, two] = await hall.connectMany(2);
  const count = 200_000;
  const rooms = new Rooms({ maxBatch: 1_000_000, maxQueue: 1_000_000, maxPending: 2 ** 30 });
  rooms.join(one.server, 'x');
  rooms.join(two.server, 'x');
  rooms.join(two.server, 'y');
  for (let n = 0; n < count; n++) rooms.publish('x', String(n));
  for (const peer of [one, two]) {
    await peer.until((received) => received.length === count);
    assert.ok(peer.received.every((text, n) => text === String(n)));
  }
});
