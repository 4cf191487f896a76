import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, turn } from './hall.js';

test('join, leave, size, members and of agree with each other', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  assert.equal(rooms.join(a.server, 'x'), true);
  assert.equal(rooms.join(a.server, 'x'), false);
  assert.equal(rooms.join(a.server, 'y'), true);
  assert.equal(rooms.join(b.server, 'x'), true);
  assert.equal(rooms.size('x'), 2);
  assert.equal(rooms.size('y'), 1);
  assert.equal(rooms.size('z'), 0);
  assert.deepEqual([...rooms.members('x')], [a.server, b.server]);
  assert.deepEqual([...rooms.members('z')], []);
  assert.deepEqual(rooms.of(a.server), ['x', 'y']);
  assert.equal(rooms.leave(a.server, 'x'), true);
  assert.equal(rooms.leave(a.server, 'x'), false);
  assert.equal(rooms.leave(a.server, 'z'), false);
  assert.deepEqual(rooms.of(a.server), ['y']);
  assert.equal(rooms.leave(a.server), true);
  assert.equal(rooms.leave(a.server), false);
  assert.deepEqual(rooms.of(a.server), []);
  assert.equal(rooms.stats().rooms, 1);
  assert.equal(rooms.leave(b.server, 'x'), true);
  assert.equal(rooms.stats().rooms, 0);
});

test('a room may have any string as its name', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms();
  for (const name of ['', '__proto__', 'constructor', 'signal', 'idle', '\u0000', '🦊']) {
    rooms.join(a.server, name);
    assert.equal(rooms.publish(name, name), 1);
    assert.deepEqual(await a.take(), [name]);
    assert.equal(rooms.leave(a.server, name), true);
  }
  assert.equal(rooms.stats().rooms, 0);
});

test('publish says how many members it addresses, send whether the socket is open', async (t) => {
  const hall = await openHall(t);
  const [a, b, c] = await hall.connectMany(3);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.join(b.server, 'x');
  assert.equal(rooms.publish('x', '1'), 2);
  assert.equal(rooms.publish('x', '2', { except: a.server }), 1);
  assert.equal(rooms.publish('x', '3', { except: c.server }), 2);
  assert.equal(rooms.publish('nobody', '4'), 0);
  assert.equal(rooms.publish('nobody', '5', { except: a.server }), 0);
  assert.equal(rooms.send(c.server, '6'), true);
  assert.deepEqual(await a.take(), ['1', '3']);
  assert.deepEqual(await b.take(), ['1', '2', '3']);
  assert.deepEqual(await c.take(), ['6']);
  c.server.terminate();
  assert.equal(rooms.send(c.server, '7'), false);
  assert.equal(rooms.join(c.server, 'x'), false);
  assert.equal(rooms.size('x'), 2);
});

test('a member that joins after a publish of the turn does not get it, but later ones', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.publish('x', '1');
  rooms.join(b.server, 'x');
  rooms.publish('x', '2');
  assert.deepEqual(await a.take(), ['1', '2']);
  assert.deepEqual(await b.take(), ['2']);
});

test('a member that leaves after a publish of the turn gets it, but not later ones', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.join(b.server, 'x');
  rooms.publish('x', '1');
  rooms.leave(b.server, 'x');
  rooms.publish('x', '2');
  assert.deepEqual(await a.take(), ['1', '2']);
  assert.deepEqual(await b.take(), ['1']);
});

test('leaving and joining again within a turn leaves out only what was published between', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms({ maxDeferral: 3_600_000 });
  rooms.join(a.server, 'x');
  rooms.join(b.server, 'x');
  for (const round of [0, 1, 2]) {
    rooms.publish('x', `in ${round}`);
    rooms.leave(b.server, 'x');
    rooms.publish('x', `out ${round}`);
    rooms.join(b.server, 'x');
  }
  rooms.publish('x', 'end', { priority: 'high' });
  assert.deepEqual(await b.take(), ['end', 'in 0', 'in 1', 'in 2']);
  assert.equal((await a.take()).length, 7);
  rooms.publish('x', 'next turn');
  assert.deepEqual(await b.take(), ['next turn']);
});

test('leaving one of two rooms whose messages are queued loses and repeats nothing', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  for (const { server } of [a, b]) {
    rooms.join(server, 'x');
    rooms.join(server, 'y');
  }
  rooms.publish('x', 'x1');
  rooms.publish('y', 'y1');
  rooms.leave(a.server, 'y');
  rooms.publish('x', 'x2');
  rooms.publish('y', 'y2');
  assert.deepEqual(await a.take(), ['x1', 'y1', 'x2']);
  assert.deepEqual(await b.take(), ['x1', 'y1', 'x2', 'y2']);
});

test('a room that empties while messages are queued still delivers them, and its name starts anew', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.publish('x', 'old');
  rooms.leave(a.server);
  assert.equal(rooms.size('x'), 0);
  assert.equal(rooms.publish('x', 'nobody'), 0);
  rooms.join(b.server, 'x');
  rooms.publish('x', 'new');
  rooms.join(a.server, 'x');
  rooms.publish('x', 'newer');
  assert.deepEqual(await a.take(), ['old', 'newer']);
  assert.deepEqual(await b.take(), ['new', 'newer']);
});

test('queued messages leave in several batches if needed, also for members that left', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms({ maxBatch: 2 });
  for (const { server } of [a, b]) rooms.join(server, 'x');
  for (const n of '12345') rooms.publish('x', n);
  rooms.leave(b.server, 'x');
  for (const n of '6789') rooms.publish('x', n);
  rooms.flush();
  assert.deepEqual(await b.take(), [...'12345']);
  assert.deepEqual(await a.take(), [...'123456789']);
});

test('a socket that closes leaves all its rooms', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.join(a.server, 'y');
  rooms.join(b.server, 'x');
  const gone = new Promise((resolve) => a.server.once('close', resolve));
  a.client.close();
  await gone;
  assert.equal(rooms.size('x'), 1);
  assert.equal(rooms.size('y'), 0);
  assert.deepEqual(rooms.of(a.server), []);
  assert.equal(rooms.join(a.server, 'x'), false);
  assert.equal(rooms.leave(a.server), false);
  const { rooms: count, members } = rooms.stats();
  assert.deepEqual({ count, members }, { count: 1, members: 1 });
});

test('stats add up', async (t) => {
  const hall = await openHall(t);
  const [a, b] = await hall.connectMany(2);
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.join(b.server, 'x');
  rooms.publish('x', 'abc');
  rooms.publish('x', 'defg', { priority: 'low' });
  rooms.send(a.server, 'h', { priority: 'high' });
  const queued = rooms.stats();
  assert.equal(queued.queued, 3);
  assert.deepEqual(queued.depth, { high: 1, normal: 1, low: 1 });
  assert.equal(queued.bytes, 5 + 6 + 3);
  await turn();
  const { sends, deliveries, sentBytes, pushed, delivered, batches, ...rest } = rooms.stats();
  assert.deepEqual(
    { sends, deliveries, sentBytes, pushed, delivered, batches, queued: rest.queued },
    { sends: 2, deliveries: 5, sentBytes: 25, pushed: 3, delivered: 3, batches: 1, queued: 0 },
  );
  assert.deepEqual(rest.dropped, { high: 0, normal: 0, low: 0 });
  assert.deepEqual([rest.rooms, rest.members, rest.slowClosed], [1, 2, 0]);
});
