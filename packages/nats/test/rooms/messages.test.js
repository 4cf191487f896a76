/** What one node publishes, members on others get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { range, turn } from '../../../millrace/test/ws/hall.js';
import { natsServer } from '../nats.js';
import { rawTo } from '../raw.js';
import { openNode, openNodes, until } from './fleet.js';

/** The NATS messages on rooms that are seen from now on. */
async function tap(t, server) {
  const connection = await rawTo(t, server);
  const seen = [];
  connection.subscribe('millrace.rooms.room.>', {
    callback: (_, { subject }) => seen.push(subject),
  });
  await connection.flush();
  return { seen, connection };
}

test('members of all nodes get a message once, in the order of its sender', async (t) => {
  const server = await natsServer(t);
  const [a, b, c] = await openNodes(t, server.url, 3, {}, { peers: 2 });
  for (const n of range(50)) {
    assert.equal(a.rooms.publish('x', `${n}`, { except: a.peers[1].server }), 1);
    if (n % 7 === 0) await turn();
  }
  const all = range(50).map(String);
  for (const peer of [a.peer, ...b.peers, ...c.peers]) {
    await peer.until((received) => received.length >= 50);
    assert.deepEqual(peer.received, all);
  }
  assert.deepEqual(await a.peers[1].take(), []);
  const { sent, unsent } = a.fleet();
  assert.deepEqual({ sent, unsent }, { sent: 50, unsent: 0 });
  for (const { received, missed, duplicates } of [b.fleet(), c.fleet()]) {
    assert.deepEqual({ received, missed, duplicates }, { received: 50, missed: 0, duplicates: 0 });
  }
  // Its own do not come back.
  assert.equal(a.fleet().received, 0);
});

test('a turn has one NATS message for each room, and its HIGH ones are first everywhere', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2, { maxDeferral: 3_600_000 });
  b.rooms.join(b.peer.server, 'y');
  await b.rooms.ready();
  const { seen, connection } = await tap(t, server);
  for (const n of range(20)) a.rooms.publish('x', `x${n}`, { priority: n === 19 ? 'high' : 'low' });
  // Nobody here is in that one.
  for (const n of range(20)) assert.equal(a.rooms.publish('y', Buffer.from([n])), 0);
  await b.peer.until((received) => received.length === 40);
  const text = b.peer.received.filter((each) => typeof each === 'string');
  assert.deepEqual(text, ['x19', ...range(19).map((n) => `x${n}`)]);
  assert.deepEqual(
    b.peer.received.filter((each) => typeof each !== 'string').map(([byte]) => byte),
    range(20),
  );
  assert.equal(b.peer.received[0], 'x19');
  await connection.flush();
  assert.deepEqual(seen, ['millrace.rooms.room.x', 'millrace.rooms.room.y']);
  assert.equal(a.fleet().sentBatches, 2);
  assert.equal(b.fleet().receivedBatches, 2);
  assert.equal(a.rooms.stats().delivered, 40);
});

test('under direct, and behind a hold, others get it when members here do', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  a.rooms.set({ policy: 'direct' });
  a.rooms.publish('x', '1');
  await b.peer.until((received) => received.length === 1);
  a.rooms.set({ policy: 'fixed', maxDelay: 60_000 });
  a.rooms.publish('x', '2');
  await turn();
  assert.equal(a.fleet().sent, 1);
  a.rooms.flush();
  await b.peer.until((received) => received.length === 2);
  assert.deepEqual(a.peer.received, ['1', '2']);
});

test('a room is heard only while it has members', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2, {}, { peers: 2 });
  const [one, two] = b.peers;
  assert.equal(b.fleet().subscriptions, 1);
  b.rooms.leave(one.server, 'x');
  assert.equal(b.fleet().subscriptions, 1);
  two.server.terminate();
  await until(() => b.fleet().subscriptions === 0);
  await b.rooms.ready();
  a.rooms.publish('x', 'nobody');
  await turn();
  await a.rooms.ready();
  b.rooms.join(one.server, 'x');
  await b.rooms.ready();
  a.rooms.publish('x', 'back');
  await one.until((received) => received.length > 0);
  assert.deepEqual(one.received, ['back']);
  const { received, missed } = b.fleet();
  assert.deepEqual({ received, missed }, { received: 1, missed: 0 });
});

test('no name of a room reaches another room', async (t) => {
  const server = await natsServer(t);
  const names = ['', '*', '>', 'a.b', 'a', 'a b', 'A', '=', 'ü', '\r\nPUB x 1', 'n'.repeat(5000)];
  names.push('\ud800', '\udbff', 'millrace.rooms.nodes', '$JS.API.INFO');
  const a = await openNode(t, server.url, {}, { peers: names.length, room: null });
  const b = await openNode(t, server.url, {}, { peers: names.length, room: null });
  names.forEach((name, n) => {
    b.rooms.join(b.peers[n].server, name);
  });
  await Promise.all([a.rooms.ready(), b.rooms.ready()]);
  names.forEach((name, n) => {
    a.rooms.publish(name, `${n}`);
  });
  for (const [n, peer] of b.peers.entries()) {
    await peer.until((received) => received.length > 0);
    assert.deepEqual(await peer.take(), [`${n}`]);
  }
});

test('two namespaces of a broker hear nothing of each other', async (t) => {
  const server = await natsServer(t);
  const a = await openNode(t, { servers: server.url, namespace: 'one' });
  const b = await openNode(t, { servers: server.url, namespace: 'two' });
  const c = await openNode(t, { servers: server.url, namespace: 'one' });
  await Promise.all([a, b, c].map(({ rooms }) => rooms.ready()));
  a.rooms.publish('x', '1');
  await c.peer.until((received) => received.length === 1);
  await b.rooms.ready();
  assert.deepEqual(await b.peer.take(), []);
});

test('batches stay below the limit of the broker, and what is above it alone is refused', async (t) => {
  const server = await natsServer(t, { config: 'max_payload: 65536' });
  const [a, b] = await openNodes(t, server.url, 2);
  for (const n of range(100)) a.rooms.publish('x', `${n} ${'.'.repeat(3000)}`);
  const refused = { code: 'MILLRACE_E_TOO_LARGE', message: /65536 bytes .* above the 6\d{4}/ };
  assert.throws(() => a.rooms.publish('x', 'a'.repeat(65_536)), refused);
  a.rooms.publish('x', 'a'.repeat(65_536 - 400));
  await b.peer.until((received) => received.length === 101);
  assert.deepEqual(
    b.peer.received.slice(0, 100).map((text) => Number.parseInt(text, 10)),
    range(100),
  );
  assert.ok(a.fleet().sentBatches >= 6);
  assert.equal((await a.peer.take()).length, 101);
});

test('messages for which a node has no room are counted, and harm no other', async (t) => {
  const server = await natsServer(t);
  const a = await openNode(t, server.url);
  const b = await openNode(t, server.url, { maxQueue: 10 });
  const c = await openNode(t, server.url);
  await Promise.all([a, b, c].map(({ rooms }) => rooms.ready()));
  for (const n of range(50)) a.rooms.publish('x', `${n}`);
  await c.peer.until((received) => received.length === 50);
  await b.peer.until((received) => received.length === 10);
  const { received, refused } = b.fleet();
  assert.deepEqual({ received, refused }, { received: 50, refused: 40 });
});

test('close lets everything out that was published', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  a.rooms.publish('x', '1');
  a.rooms.publish('x', '2');
  assert.equal(a.rooms.close(), undefined);
  await a.rooms.closed();
  await b.peer.until((received) => received.length === 2);
  assert.throws(() => a.rooms.publish('x', '3'), { code: 'MILLRACE_E_CLOSED' });
  await assert.rejects(a.rooms.ready(), { code: 'MILLRACE_E_CLOSED' });
  assert.equal(a.fleet().link.state, 'closed');
});

test('without a broker nothing is waited for', async () => {
  const rooms = new Rooms();
  await rooms.ready();
  await rooms.acknowledged();
  rooms.close();
  await rooms.closed();
  assert.equal(rooms.stats().across, null);
});
