/** Durable rooms over several servers: what the broker has acknowledged reaches the clients of all, whatever happens on the way. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { stillClock } from '../../../base/test/clocks.js';
import { range, turn } from '../../../millrace/test/ws/socket-io.js';
import { Link } from '../../dist/link.js';
import { encodeBatch, newNode } from '../../dist/wire.js';
import { natsServer, unable } from '../nats.js';
import { longMs, patiently } from '../patience.js';
import { node } from '../process.js';
import { proxy } from '../proxy.js';
import { fleetAt, knowing, openFleet, openNode, when } from './nodes.js';

const skip = unable;
const heartbeat = 3000;
const always = { durable: true, heartbeat };
const program = (t, broker) =>
  node(t, new URL('program.js', import.meta.url), {
    BROKER: JSON.stringify(broker),
    HEARTBEAT: String(heartbeat),
    OPTIONS: JSON.stringify({ durable: true }),
  });

/** The numbers of the events `name` that a client has, in the order in which they came. */
const numbers = ({ received }, name = 'm') =>
  received.filter(([event]) => event === name).map(([, n]) => n);
const has = (guest, count, name) => guest.until(() => numbers(guest, name).length >= count);
const isUp = ({ adapter }) => adapter.stats().broker.state === 'up';
const isDown = (each) => when(() => !isUp(each));

test('kill -9 of the broker, again and again: nothing is lost, nothing comes twice', {
  skip,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const { nodes, ios, guests } = await openFleet(t, broker, always);
  for (const { server } of guests) await server.join(['x', 'y']);
  let n = 0;
  const publish = async (count) => {
    for (const _ of range(count)) {
      // Over several rooms, in the order of each sender.
      [ios[0].to('x'), ios[0].to('y'), ios[0]][n % 3].emit('m', n, Buffer.from('bytes'));
      ios[1].to('x').emit('of b', n);
      n++;
      if (n % 5 === 0) await turn();
    }
  };
  for (const _ of range(2)) {
    await publish(200);
    await broker.kill();
    await publish(100);
    await broker.start();
    await publish(100);
  }
  await Promise.all(nodes.map(({ adapter }) => adapter.acknowledged()));
  for (const guest of guests) {
    await has(guest, n);
    await has(guest, n, 'of b');
    assert.deepEqual(numbers(guest), range(n));
    assert.deepEqual(numbers(guest, 'of b'), range(n));
    const [, , bytes] = guest.received.find(([event]) => event === 'm');
    assert.deepEqual(bytes, Buffer.from('bytes'));
  }
  for (const { adapter } of nodes) {
    const { missed, malformed, durable } = adapter.stats();
    assert.deepEqual(
      { missed, malformed, backlog: durable.backlog },
      { missed: 0, malformed: 0, backlog: 0 },
    );
  }
  assert.equal(nodes[0].adapter.stats().durable.stored, n);
});

test('a server that was cut off gets what it has missed, and says what it had', {
  skip,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const cable = await proxy(t, broker.port);
  const at = fleetAt(broker);
  const near = await openNode(t, at, always);
  const far = await openNode(t, { ...at, servers: cable.url }, always);
  await Promise.all([near, far].map(({ adapter }) => adapter.ready()));
  await knowing([near, far], 2);
  const a = await near.connect({ name: 'a' });
  const b = await far.connect({ name: 'b' });
  cable.cut();
  await isDown(far);
  for (const n of range(300)) {
    near.io.emit('m', n);
    if (n % 10 === 0) await turn();
  }
  far.io.emit('far', 0);
  await near.adapter.acknowledged();
  assert.equal(far.adapter.stats().durable.backlog, 1);
  cable.heal();
  await far.adapter.acknowledged();
  await has(b, 300);
  await has(a, 1, 'far');
  assert.deepEqual(numbers(b), range(300));
  assert.ok(far.adapter.stats().durable.replays > 0);
  // They go on, and each has everything once.
  near.io.emit('m', 300);
  far.io.emit('far', 1);
  await has(b, 301);
  await has(a, 2, 'far');
  assert.deepEqual([numbers(b), numbers(a, 'far')], [range(301), [0, 1]]);
});

test('kill -9 of a server: what it knew to be stored is there', { skip }, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const fleet = await openFleet(t, broker, { count: 1, ...always });
  const [a] = fleet.guests;
  await a.server.join('all');
  const other = program(t, fleet.at);
  await other.says(({ port }) => port);
  other.tell({ do: 'publish', from: 0, to: 1e9 });
  await other.says(({ stored }) => stored >= 99);
  await other.kill();
  let stored = 99;
  for (;;) {
    const more = await other.says((each) => each.stored > stored).catch(() => null);
    if (more === null) break;
    ({ stored } = more);
  }
  await has(a, stored + 1);
  const got = numbers(a);
  assert.deepEqual(got, range(got.length));
});

test('kill -9 of broker and server at once: what was stored is there', { skip }, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const fleet = await openFleet(t, broker, { count: 1, ...always });
  const [a] = fleet.guests;
  await a.server.join('all');
  const other = program(t, fleet.at);
  await other.says(({ port }) => port);
  // What comes first is not what is meant: only the stream has the rest.
  const link = await proxy(t, broker.port);
  const late = await openNode(t, { ...fleet.at, servers: link.url }, always);
  await late.adapter.ready();
  const b = await late.connect({ name: 'b' });
  await b.server.join('all');
  link.cut();
  await isDown(late);
  await other.ask({ do: 'publish', from: 0, to: 200 });
  await Promise.all([broker.kill(), other.kill()]);
  await broker.start();
  link.heal();
  for (const guest of [a, b]) {
    await has(guest, 200);
    assert.deepEqual(numbers(guest), range(200));
  }
});

test('only rooms that are said to be durable, and nothing volatile or local', {
  skip,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const durable = (room) => room.startsWith('d');
  const fleet = await openFleet(t, broker, { count: 2, heartbeat, durable });
  const { ios, guests, nodes } = fleet;
  const [io] = ios;
  const [a, b] = guests;
  await b.server.join(['d', 'x']);
  const stored = async () => {
    await nodes[0].adapter.acknowledged();
    return nodes[0].adapter.stats().durable.stored;
  };
  io.emit('m', 0);
  io.to('x').emit('m', 1);
  io.volatile.to('d').emit('m', 2);
  io.local.to('d').emit('m', 3);
  assert.deepEqual(await io.to('d').timeout(longMs).emitWithAck('m', 4), ['b']);
  assert.equal(await stored(), 0);
  io.to('d').except('x').emit('m', 5);
  io.to('d').emit('m', 6);
  io.to(['x', 'd', 'other']).emit('m', 7);
  assert.equal(await stored(), 3);
  await b.until(() => numbers(b).includes(7));
  // A volatile one may be dropped: the client was being written to.
  const others = numbers(b).filter((n) => n !== 2);
  assert.deepEqual(others, [0, 1, 4, 6, 7]);
  assert.deepEqual(numbers(a), [0]);
});

test('an account that may do no more than the documentation says', { skip }, async (t) => {
  const config = `authorization { users: [{ user: u, password: p, permissions: {
    publish: ["millrace.socket-io.>", "$JS.API.>", "$JS.FC.>"]
    subscribe: ["millrace.socket-io.>", "_INBOX.>"] } }] }`;
  const broker = await natsServer(t, { jetstream: true, config });
  const url = broker.url.replace('//', '//u:p@');
  const options = { heartbeat, durable: (room) => room === 'd' };
  const nodes = [await openNode(t, url, options), await openNode(t, url, options)];
  await Promise.all(nodes.map(({ adapter }) => adapter.ready()));
  await knowing(nodes, 2);
  const b = await nodes[1].connect({ name: 'b' });
  await b.server.join(['d', 'x']);
  const { io, adapter } = nodes[0];
  io.to('d').emit('m', 1);
  await adapter.acknowledged();
  await has(b, 1);
  io.to('x').emit('m', 2);
  assert.deepEqual(await io.timeout(longMs).emitWithAck('all'), ['b']);
  assert.deepEqual(numbers(b), [1, 2]);
});

test('broadcasts that wait for the broker are bounded, and no client gets a refused one', {
  skip,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const at = { ...fleetAt(broker), maxPending: 65_536 };
  const [near, far] = [await openNode(t, at, always), await openNode(t, at, always)];
  await Promise.all([near, far].map(({ adapter }) => adapter.ready()));
  const a = await near.connect({ name: 'a' });
  const b = await far.connect({ name: 'b' });
  await broker.kill();
  await Promise.all([near, far].map(isDown));
  let sent = 0;
  const text = '.'.repeat(1000);
  const fill = () => {
    for (; sent < 1000; sent++) near.io.emit('m', sent, text);
  };
  assert.throws(fill, { code: 'MILLRACE_E_OVERLOADED', message: /acknowledged\(\)/ });
  assert.ok(sent > 10 && near.adapter.stats().durable.backlogBytes <= 65_536);
  // Everything else works on.
  near.io.local.emit('local', 0);
  await has(a, 1, 'local');
  assert.deepEqual(numbers(a), range(sent));
  await broker.start();
  await near.adapter.acknowledged();
  near.io.emit('m', sent++, text);
  await has(b, sent);
  assert.deepEqual(numbers(b), range(sent));
});

test('a broker without JetStream, and a stream that is set up otherwise', { skip }, async (t) => {
  const broker = await natsServer(t);
  const at = fleetAt(broker);
  const house = await openNode(t, at, always);
  await assert.rejects(house.adapter.ready(), { code: 'MILLRACE_E_BROKER', message: /-js/ });
  assert.throws(() => house.io.emit('m'), { code: 'MILLRACE_E_BROKER', message: /-js/ });
  house.io.volatile.emit('m');
  await house.adapter.acknowledged();
  await broker.kill();
  await broker.start({ jetstream: true });
  await when(() =>
    house.adapter.ready().then(
      () => true,
      () => false,
    ),
  );
  const link = new Link(at, 'socket-io');
  t.after(() => link.close());
  const { jsm } = await patiently(() => link.jetstream());
  const name = `${at.namespace}_socket-io`;
  await jsm.streams.update(name, { max_age: 3600 * 1e9 });
  const other = await openNode(t, at, always);
  await assert.rejects(other.adapter.ready(), { code: 'MILLRACE_E_BROKER', message: /max_age/ });
});

test('messages that are no broadcasts are ignored, counted, and read once', {
  skip,
}, async (t) => {
  // A reader that hears no heartbeat for 3 s reads again: here none does, however busy the machine is.
  stillClock(t);
  const broker = await natsServer(t, { jetstream: true });
  const { nodes, ios, guests, at } = await openFleet(t, broker, { count: 2, ...always });
  const link = new Link(at, 'socket-io');
  t.after(() => link.close());
  await link.ready();
  const subject = link.subject('socket-io', 'durable', '/');
  const head = (json) => {
    const data = Buffer.alloc(8 + json.length);
    data.writeUInt32BE(json.length, 4);
    data.write(json, 8);
    return { flags: 0, data };
  };
  const records = [
    { flags: 255, data: Buffer.alloc(0) },
    head('{"kind":"disconnect","rooms":[],"close":true}'),
    head('{"kind":"broadcast","rooms":[]}'),
    head('{"kind":"broadcast","rooms":[{}]}'),
  ];
  const payload = encodeBatch(newNode(), 0, records);
  for (const each of [payload, payload, Buffer.from('nothing')]) link.publish(subject, each);
  // A listener that throws does not make the stream stand still.
  const thrown = new Promise((resolve) => {
    const known = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => {
      for (const listener of known) process.on('uncaughtException', listener);
      resolve(error);
    });
  });
  guests[1].server.onAnyOutgoing((_, n) => {
    if (n === 0) throw new Error('of the listener');
  });
  await link.flush();
  for (const n of range(3)) ios[0].emit('m', n);
  assert.equal((await thrown).message, 'of the listener');
  await has(guests[1], 2);
  assert.deepEqual(numbers(guests[1]), [1, 2]);
  const { malformed, duplicates, durable } = nodes[1].adapter.stats();
  assert.deepEqual(
    { malformed, duplicates, replays: durable.replays },
    {
      malformed: 5,
      duplicates: 4,
      replays: 0,
    },
  );
});

test('connection state recovery: a client of a server that lost the broker misses nothing', {
  skip,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const recovery = { connectionStateRecovery: {}, ...always };
  const { ios, guests } = await openFleet(t, broker, { count: 2, ...recovery });
  const [, b] = guests;
  ios[0].emit('m', 0);
  await has(b, 1);
  const gone = once(b.server, 'disconnect');
  b.client.io.engine.close();
  await gone;
  ios[0].emit('m', 1);
  await broker.kill();
  ios[0].emit('m', 2);
  await broker.start();
  ios[0].emit('m', 3);
  // Kept for those that come back.
  await when(() => ios[1].of('/').adapter.packets.length === 4);
  const connected = once(ios[1], 'connection');
  b.client.connect();
  const [socket] = await connected;
  assert.equal(socket.recovered, true);
  socket.on('fence', (answer) => answer());
  await b.fence();
  assert.deepEqual(numbers(b), range(4));
});

test('a server that closes waits until the broker has stored what it had', { skip }, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const { nodes, ios } = await openFleet(t, broker, { count: 2, ...always });
  // Set once more, the adapter takes the place of what was there.
  ios[1].adapter(nodes[1].adapter);
  await nodes[1].adapter.ready();
  const guest = await nodes[1].connect({ name: 'late' });
  for (const n of range(100)) ios[0].emit('m', n);
  await ios[0].of('/').adapter.close();
  assert.equal(nodes[0].adapter.stats().durable.backlog, 0);
  assert.equal(nodes[0].adapter.stats().broker.state, 'closed');
  await has(guest, 100);
  assert.deepEqual(numbers(guest), range(100));
});
