/** What is over is forgotten: rooms, members, their queues, their listeners. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { Rooms } from 'millrace/ws';
import { TypeEntry } from '../../dist/engine/queue.js';
import { Frame } from '../../dist/ws/frame.js';
import { Member, Room } from '../../dist/ws/member.js';
import { openHall, range, turn } from './hall.js';

/** Objects of each kind that are alive after a full garbage collection. */
const alive = () =>
  Object.fromEntries(
    Object.entries({ Room, Member, TypeEntry, Frame }).map(([name, type]) => [
      name,
      queryObjects(type, { format: 'count' }),
    ]),
  );

const options = { skip: queryObjects === undefined && 'needs v8.queryObjects' };

test('rooms that have emptied are forgotten, with their queues', options, async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(3);
  const rooms = new Rooms();
  for (const { server } of peers) rooms.join(server, 'stays');
  const before = alive();
  for (const n of range(5000)) {
    const { server } = peers[n % 3];
    rooms.join(server, `room ${n}`);
    rooms.publish(`room ${n}`, 'hello');
    // Some leave while the message is queued, some after it has left, some before there is one.
    if (n % 2 === 0) rooms.leave(server, `room ${n}`);
    rooms.join(server, `silent ${n}`);
    rooms.leave(server, `silent ${n}`);
    rooms.publish(`never there ${n}`, 'hello');
    if (n % 100 === 99) {
      await turn();
      for (let back = n - 99; back <= n; back++)
        rooms.leave(peers[back % 3].server, `room ${back}`);
    }
  }
  await turn();
  assert.equal(rooms.stats().rooms, 1);
  assert.equal(rooms.stats().delivered, 5000);
  assert.deepEqual(alive(), before);
  assert.ok(rooms.publish('stays', 'still') === 3);
});

test('members that have gone are forgotten, even with messages queued', options, async (t) => {
  const hall = await openHall(t);
  const stays = await hall.connect();
  const rooms = new Rooms({ policy: 'fixed', maxDelay: 60_000 });
  rooms.join(stays.server, 'x');
  const before = alive();
  for (const _ of range(5)) {
    const peers = await hall.connectMany(20);
    for (const { server } of peers) {
      rooms.join(server, 'x');
      rooms.join(server, 'y');
      rooms.send(server, 'hello');
    }
    rooms.publish('x', 'hello');
    for (const { server } of peers.slice(0, 10)) rooms.leave(server);
    rooms.publish('y', 'hello');
    const gone = Promise.all(peers.map(({ server }) => once(server, 'close')));
    for (const { server } of peers) server.terminate();
    await gone;
    await Promise.all(peers.map(({ closed }) => closed));
    rooms.flush();
    hall.peers.length = 1;
  }
  assert.equal(rooms.stats().members, 1);
  await turn();
  assert.deepEqual(alive(), before);
  rooms.flush();
});

test('closed rooms remember nothing of what is published to them', options, async (t) => {
  const hall = await openHall(t);
  const peer = await hall.connect();
  const rooms = new Rooms();
  rooms.join(peer.server, 'x');
  rooms.publish('x', 'hello');
  rooms.close();
  const before = alive();
  for (const n of range(1000)) assert.throws(() => rooms.publish(`room ${n}`, 'hello'));
  const after = alive();
  assert.ok(after.TypeEntry <= before.TypeEntry + 1, `${after.TypeEntry} entries`);
});

test('a socket has one listener of each kind, however often it joins, and none at the end', async (t) => {
  const hall = await openHall(t);
  const peer = await hall.connect();
  const { server, socket } = peer;
  const listeners = () => [server.listenerCount('close'), socket.listenerCount('drain')];
  const before = listeners();
  const one = before.map((count) => count + 1);
  const rooms = new Rooms();
  const warnings = [];
  const warned = (warning) => warnings.push(warning);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  for (const n of range(100)) {
    rooms.join(server, `room ${n % 7}`);
    rooms.publish(`room ${n % 7}`, 'hello');
    rooms.send(server, 'hello');
    if (n % 2 === 0) rooms.leave(server, `room ${n % 7}`);
    if (n % 10 === 0) await turn();
    assert.deepEqual(listeners(), one);
  }
  rooms.close();
  assert.deepEqual(listeners(), before);

  const more = new Rooms();
  more.join(server, 'x');
  assert.deepEqual(listeners(), one);
  const closed = once(server, 'close');
  server.terminate();
  await closed;
  await turn();
  assert.deepEqual(listeners(), before);
  assert.deepEqual(warnings, []);
});
