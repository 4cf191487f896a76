/** Who is where, on all nodes, over everything that happens to nodes and the network between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serialize } from 'node:v8';
import { Rooms } from 'millrace/ws';
import { openHall, range, turn } from '../../../millrace/test/ws/hall.js';
import { encodeBatch } from '../../dist/wire.js';
import { natsServer } from '../nats.js';
import { node } from '../process.js';
import { proxy } from '../proxy.js';
import { rawTo } from '../raw.js';
import { away, openNode, until } from './fleet.js';

/** A node whose changes are noted, as `+id` and `-id`, with the reason where it is a node. */
async function open(t, broker, options = {}, setting = {}) {
  const changes = [];
  const told = ({ room, joined, left, reason }) => {
    const mark = reason === 'node' ? '!' : '';
    for (const { id } of left) changes.push(`${mark}-${room}:${id}`);
    for (const { id } of joined) changes.push(`${mark}+${room}:${id}`);
  };
  const setUp = { peers: 4, room: null, ...setting };
  const opened = await openNode(t, broker, { onPresence: told, ...options }, setUp);
  const join = (n, room, id, data) => opened.rooms.join(opened.peers[n].server, room, { id, data });
  return { ...opened, changes, join, ids: (room) => ids(opened.rooms.presence(room)) };
}

const ids = (presences) => presences.map(({ id }) => id).sort();
const program = new URL('programs/node.js', import.meta.url);

/** Ms between two signs of life, where a node that a busy machine keeps waiting for a moment must not count as gone. */
const heartbeat = 2500;

/** The same in a process of its own, with a member in room `x`. */
async function openProcess(t, broker, id, env = {}) {
  const OPTIONS = JSON.stringify({ heartbeat });
  const peer = node(t, program, { BROKER: broker, OPTIONS, ...env });
  const { failure } = await peer.says();
  assert.equal(failure, null);
  await peer.ask({ do: 'join', room: 'x', presence: { id } });
  return peer;
}

test('joins and leaves reach all nodes, once for each room and turn', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url);
  const b = await open(t, server.url);
  await until(() => a.fleet().nodes === 1 && b.fleet().nodes === 1);
  const map = new Map([['seat', 4]]);
  a.join(0, 'x', 'ann', map);
  a.join(1, 'x', 'bob');
  a.join(1, 'y', 'bob');
  // It was never there for anybody.
  a.join(2, 'x', 'cid');
  a.rooms.leave(a.peers[2].server);
  await until(() => b.changes.length >= 3);
  assert.deepEqual(b.changes.splice(0), ['+x:ann', '+x:bob', '+y:bob']);
  assert.deepEqual(a.changes.splice(0), ['+x:ann', '+x:bob', '+y:bob']);
  const [ann] = b.rooms.presence('x');
  assert.deepEqual(ann.data, map);
  assert.equal(ann.node, a.fleet().node);
  assert.deepEqual(b.rooms.presence('z'), []);
  a.peers[1].client.close();
  await until(() => b.changes.length >= 2);
  assert.deepEqual(b.changes, ['-x:bob', '-y:bob']);
  assert.deepEqual(b.ids('x'), ['ann']);
  // Who joins without a presence is a member like any other.
  a.rooms.join(a.peers[3].server, 'x');
  assert.deepEqual(a.ids('x'), ['ann']);
  assert.equal(a.rooms.size('x'), 2);
});

test('a newcomer learns of everybody, also when that takes several messages', async (t) => {
  const server = await natsServer(t, { config: 'max_payload: 4096' });
  const a = await open(t, server.url, {}, { peers: 60 });
  await a.rooms.ready();
  for (const n of range(60)) a.join(n, 'x', `${n}`, '.'.repeat(500));
  const b = await open(t, server.url);
  await until(() => b.rooms.presence('x').length === 60);
  assert.deepEqual(b.ids('x'), range(60).map(String).sort());
  assert.ok(b.changes.every((change) => change.startsWith('!+')));
  assert.throws(() => b.join(0, 'x', 'fat', '.'.repeat(5000)), { code: 'MILLRACE_E_TOO_LARGE' });
  assert.equal(b.rooms.size('x'), 0);
  assert.equal(a.fleet().present, 60);
});

test('kill -9 of a node: its members leave once; one that closes leaves by itself', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url, { heartbeat });
  await a.rooms.ready();
  // Their clocks are hours off, each in another direction.
  const skews = ['36000000', '-36000000', '0'];
  const [b, c, d] = await Promise.all(
    ['bob', 'cid', 'dan'].map((id, n) => openProcess(t, server.url, id, { SKEW_MS: skews[n] })),
  );
  // Changes are told at the end of the turn in which they come.
  await until(() => a.ids('x').length === 3 && a.changes.length === 3);
  for (const { since } of a.rooms.presence('x')) assert.ok(Math.abs(Date.now() - since) < 600_000);
  a.changes.splice(0);
  await b.kill();
  await d.ask({ do: 'close' });
  await until(() => a.changes.length >= 2);
  assert.deepEqual(a.changes.sort(), ['!-x:bob', '-x:dan']);
  assert.deepEqual(a.ids('x'), ['cid']);
  await until(async () => (await c.ask({ do: 'presence', room: 'x' })).length === 1);
  const seen = (await c.ask({ do: 'changes' })).flatMap(({ left }) => left.map(({ id }) => id));
  assert.deepEqual(seen.sort(), ['bob', 'dan']);
  assert.equal(a.fleet().nodes, 1);
});

test('a node that stood still leaves, and is back with who is there now', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url, { heartbeat });
  await a.rooms.ready();
  const b = await openProcess(t, server.url, 'bob');
  await until(() => a.ids('x').includes('bob'));
  a.join(0, 'x', 'ann');
  await until(async () => (await b.ask({ do: 'presence', room: 'x' })).length === 2);
  await b.ask({ do: 'changes' });
  b.pause();
  await until(() => a.changes.includes('!-x:bob'));
  a.changes.splice(0);
  b.resume();
  await until(() => a.changes.length > 0);
  assert.deepEqual(a.changes, ['!+x:bob']);
  // It was itself that had stopped: nobody had gone.
  assert.deepEqual(await b.ask({ do: 'changes' }), []);
  assert.deepEqual(ids(await b.ask({ do: 'presence', room: 'x' })), ['ann', 'bob']);
});

test('a network that is cut and healed: gone for the others, and back with what changed', async (t) => {
  const server = await natsServer(t);
  const cable = await proxy(t, server.port);
  const a = await open(t, server.url, { heartbeat });
  const b = await open(t, cable.url, { heartbeat });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.join(0, 'x', 'ann');
  b.join(0, 'x', 'bob');
  b.join(1, 'x', 'cid');
  await until(() => a.rooms.presence('x').length === 3 && b.rooms.presence('x').length === 3);
  for (const { changes } of [a, b]) changes.splice(0);
  cable.cut();
  await away(b);
  b.rooms.leave(b.peers[0].server);
  b.join(2, 'x', 'dan');
  await until(() => a.changes.length >= 2);
  // For who was cut off nothing is known, and nobody is gone.
  assert.deepEqual(b.ids('x'), ['ann', 'cid', 'dan']);
  cable.heal();
  await until(() => a.changes.length >= 4);
  assert.deepEqual(a.changes, ['!-x:bob', '!-x:cid', '!+x:cid', '!+x:dan']);
  assert.deepEqual(b.changes, ['-x:bob', '+x:dan']);
});

test('a change that is lost is found at the next heartbeat', async (t) => {
  const server = await natsServer(t);
  const cable = await proxy(t, server.port);
  const a = await open(t, server.url, { heartbeat: 5000 });
  const b = await open(t, cable.url, { heartbeat: 5000 });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.join(0, 'x', 'ann');
  await until(() => b.rooms.presence('x').length === 1);
  cable.cut();
  await away(b);
  a.join(1, 'x', 'bob');
  await turn();
  cable.heal();
  // Long before any node would be gone.
  await until(() => b.changes.length === 2);
  assert.deepEqual(b.changes, ['+x:ann', '+x:bob']);
});

test('messages that are none are counted, and change nothing', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url);
  await a.rooms.ready();
  a.join(0, 'x', 'ann');
  const raw = await rawTo(t, server);
  const head = Buffer.alloc(23);
  head.set([0x4d, 1, 0, 0]);
  head.fill(7, 4, 13);
  const batch = (sequence, ...records) => {
    head.writeUIntBE(sequence, 13, 6);
    head.writeUInt32BE(records.length, 19);
    const bodies = records.map(([flags, data]) => {
      const start = Buffer.alloc(5);
      start[0] = flags;
      start.writeUInt32BE(data.length, 1);
      return Buffer.concat([start, data]);
    });
    return Buffer.concat([head, ...bodies]);
  };
  const entry = (value) => Buffer.concat([Buffer.alloc(8), serialize(value)]);
  const bad = [
    Buffer.from('hello'),
    batch(0),
    batch(0, [0, Buffer.from('x')]),
    batch(0, [3, Buffer.from('x')]),
    batch(0, [3, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])], [1, Buffer.from('not an entry')]),
    batch(0, [3, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])], [1, entry([1, 2, 3])]),
    batch(0, [3, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])], [1, entry('text')]),
  ];
  for (const bytes of bad) raw.publish('millrace.rooms.nodes', bytes);
  // These are right: the list of a node, and a change of it that is not.
  raw.publish('millrace.rooms.nodes', batch(4, [3, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]));
  raw.publish('millrace.rooms.nodes', batch(5, [77, Buffer.from('?')]));
  await until(() => a.fleet().malformed === bad.length + 1);
  assert.deepEqual(a.ids('x'), ['ann']);
  assert.equal(a.fleet().nodes, 1);
  // It never says anything again.
  await until(() => a.fleet().nodes === 0);
});

test('names of nodes that are made up are bounded, and a real one is heard when they are gone', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url);
  await a.rooms.ready();
  const raw = await rawTo(t, server);
  const beat = Buffer.alloc(4);
  beat.writeUInt32BE(60_000);
  const say = (n, flags, data) => {
    const name = Buffer.from(`made${`${n}`.padStart(5, '0')}`).toString('base64url');
    raw.publish('millrace.rooms.nodes', encodeBatch(name, 0, [{ flags, data }]));
  };
  // They have no members, so they are known at once.
  for (const n of range(12_000)) say(n, 0, beat);
  await until(() => a.fleet().nodes + a.fleet().ignored === 12_000);
  assert.deepEqual([a.fleet().nodes, a.fleet().ignored], [10_000, 2000]);
  // One that is known is heard as before, and one that says goodbye makes room.
  say(0, 0, beat);
  say(1, 6, Buffer.alloc(0));
  await until(() => a.fleet().nodes === 9999);
  assert.equal(a.fleet().ignored, 2000);
  const b = await open(t, server.url);
  b.join(0, 'x', 'bob');
  await until(() => a.ids('x').length === 1);
  assert.equal(a.fleet().nodes, 10_000);
});

test('without a broker it is the same for one process', async (t) => {
  const hall = await openHall(t);
  const [one, two] = await hall.connectMany(2);
  const changes = [];
  const rooms = new Rooms({ onPresence: (change) => changes.push(change) });
  rooms.join(one.server, 'x', { id: 'ann', data: 1 });
  rooms.join(two.server, 'x', {});
  assert.equal(rooms.join(two.server, 'x', { id: 'again' }), false);
  const [ann, other] = rooms.presence('x');
  assert.deepEqual([ann.id, ann.data, other.id.length], ['ann', 1, 12]);
  await turn();
  await turn();
  assert.deepEqual(changes, [{ room: 'x', joined: [ann, other], left: [], reason: 'member' }]);
  rooms.leave(two.server, 'x');
  assert.deepEqual(rooms.presence('x'), [ann]);
  const data = () => {};
  assert.throws(() => rooms.join(two.server, 'x', { data }), {
    code: 'MILLRACE_E_INVALID_ARGUMENT',
  });
  assert.throws(() => rooms.join(two.server, 'x', { id: 1 }), {
    code: 'MILLRACE_E_INVALID_OPTION',
  });
  assert.throws(() => rooms.join(two.server, 'x', { name: 'x' }), /unknown option 'name'/);
  assert.equal(rooms.size('x'), 1);
});

test('a member that joined with too much data before the broker was there keeps nobody else out', async (t) => {
  const server = await natsServer(t, { config: 'max_payload: 4096' });
  await server.kill();
  const a = await open(t, server.url);
  a.join(0, 'x', 'fat', '.'.repeat(8000));
  a.join(1, 'x', 'ann');
  await server.start();
  const b = await open(t, server.url);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  await until(() => b.rooms.presence('x').length === 1);
  assert.deepEqual(b.ids('x'), ['ann']);
});

test('nodes that meet again ask for lists only where something has changed', async (t) => {
  const server = await natsServer(t);
  const a = await open(t, server.url, { heartbeat: 5000 });
  const b = await open(t, server.url, { heartbeat: 5000 });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  await until(() => [a, b].every(({ fleet }) => fleet().nodes === 1));
  a.join(0, 'x', 'ann', '.'.repeat(100_000));
  await until(() => b.rooms.presence('x').length === 1);
  const received = b.fleet().link.receivedBytes;
  await server.kill();
  await Promise.all([away(a), away(b)]);
  await server.start();
  await until(() => [a, b].every(({ fleet }) => fleet().link.reconnects === 1));
  // It has subscribed again when it hears from the other.
  await until(() => b.fleet().link.receivedBytes > received);
  // A list would come before this.
  a.join(1, 'x', 'bob');
  await until(() => b.rooms.presence('x').length === 2);
  assert.ok(b.fleet().link.receivedBytes - received < 10_000);
  assert.deepEqual(b.changes, ['+x:ann', '+x:bob']);
});
