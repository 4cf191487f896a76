/** What breaks between servers, and what goes on all the same. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { collect } from '@millrace/monitor/metrics';
import { natsAdapter } from '@millrace/nats/socket-io';
import { Server } from 'socket.io';
import { io as connect } from 'socket.io-client';
import { Guest, open } from '../../../millrace/test/ws/socket-io.js';
import { Link } from '../../dist/link.js';
import { encodeBatch, newNode } from '../../dist/wire.js';
import { natsServer, unable } from '../nats.js';
import { longMs } from '../patience.js';
import { node } from '../process.js';
import { proxy } from '../proxy.js';
import { askServers, fleetAt, knowing, openFleet, openNode, takeAll, when } from './nodes.js';

const skip = unable;
const heartbeat = 300;
const countOf = ({ io }) => io.of('/').adapter.serverCount();
/** Of a fleet with other processes, which may have to wait for their turn on a busy machine. */
const patientHeartbeat = 600;
const program = (t, broker) =>
  node(t, new URL('program.js', import.meta.url), {
    BROKER: JSON.stringify(broker),
    HEARTBEAT: String(patientHeartbeat),
  });

/** A fleet of two servers here and one in another process, with a client at each in the room `all`. */
async function withProgram(t) {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 2, heartbeat: patientHeartbeat });
  const other = program(t, fleet.at);
  const { port } = await other.says(({ port }) => port);
  await knowing(fleet.nodes, 3);
  for (const { server } of fleet.guests) await server.join('all');
  const client = connect(`http://127.0.0.1:${port}`, { transports: ['websocket'], forceNew: true });
  t.after(() => client.disconnect());
  const guest = new Guest(client, 'of the program');
  await other.says(({ connected }) => connected);
  return { ...fleet, broker, other, guest };
}

test('kill -9 of a server: what waits for it ends, and the others go on', { skip }, async (t) => {
  const { other, guest, ios, guests, nodes } = await withProgram(t);
  await other.ask({ do: 'emit', message: ['from the program'] });
  ios[0].to('all').emit('to the program');
  await guest.until((received) => received.some(([event]) => event === 'to the program'));
  for (const each of guests) {
    await each.until((received) => received.some(([event]) => event === 'from the program'));
  }
  const all = await ios[0].timeout(longMs).emitWithAck('m');
  assert.deepEqual(all.sort(), ['a', 'b', 'of the program']);

  ios[1].on('silence', (callback) => callback('b'));
  const answers = ios[0].serverSideEmitWithAck('silence');
  await other.says(({ asked }) => asked);
  process.kill(other.pid, 'SIGSTOP');
  const sockets = ios[0].timeout(longMs).fetchSockets();
  const acks = ios[0].timeout(longMs).emitWithAck('m');
  await other.kill();
  assert.deepEqual(await answers, ['b']);
  assert.equal((await sockets).length, 2);
  assert.deepEqual((await acks).sort(), ['a', 'b']);
  await knowing(nodes, 2);
  const last = await ios[1].timeout(longMs).emitWithAck('m');
  assert.deepEqual(last.sort(), ['a', 'b']);
  assert.equal(nodes[0].adapter.stats().requests, 0);
});

test('a server that stands still is gone, and back when it goes on', { skip }, async (t) => {
  const { other, guest, ios, nodes } = await withProgram(t);
  process.kill(other.pid, 'SIGSTOP');
  await knowing(nodes, 2);
  process.kill(other.pid, 'SIGCONT');
  await knowing(nodes, 3);
  while ((await other.ask({ do: 'count' })) !== 3);
  ios[0].to('all').emit('again');
  await guest.until((received) => received.some(([event]) => event === 'again'));
  ios[1].on('who', (callback) => callback('b'));
  const names = await askServers(ios[0], 'who');
  assert.deepEqual(names.sort(), ['b', 'program']);
});

test('a restart of the broker: each works by itself, and then together again', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 2, heartbeat });
  const { nodes, ios, guests } = fleet;
  for (const { server } of guests) await server.join('x');
  ios[1].on('silence', () => {});
  const pending = ios[0].serverSideEmitWithAck('silence');
  await broker.kill();
  assert.deepEqual(await pending, []);
  await knowing(nodes, 1);
  ios[0].emit('alone', 1);
  ios[0].to('x').emit('alone', 2);
  assert.deepEqual(await ios[0].timeout(longMs).emitWithAck('alone', 3), ['a']);
  assert.equal((await ios[0].timeout(longMs).fetchSockets()).length, 1);
  assert.ok(nodes[0].adapter.stats().broker.unsent.away > 0);
  // A room that is new while the broker is away.
  await guests[1].server.join('y');
  await broker.start();
  await knowing(nodes, 2);
  for (const { received } of guests) received.splice(0);
  ios[0].to('x').emit('together');
  ios[0].to('y').emit('new room');
  const { a, b } = await takeAll(fleet);
  assert.deepEqual([a, b], [[['together']], [['together'], ['new room']]]);
});

test('a network that is cut, and heals', { skip }, async (t) => {
  const broker = await natsServer(t);
  const network = await proxy(t, broker.port);
  const at = fleetAt(broker);
  const near = await openNode(t, at, { heartbeat });
  const far = await openNode(t, { ...at, servers: network.url }, { heartbeat });
  const nodes = [near, far];
  await knowing(nodes, 2);
  const guests = [await near.connect({ name: 'a' }), await far.connect({ name: 'b' })];
  network.blackhole();
  // Nobody tells them: heartbeats that do not come do.
  await knowing(nodes, 1);
  far.io.emit('far');
  near.io.emit('near');
  assert.deepEqual(await near.io.timeout(longMs).emitWithAck('alone'), ['a']);
  assert.deepEqual(await far.io.timeout(longMs).emitWithAck('alone'), ['b']);
  network.cut();
  network.heal();
  await knowing(nodes, 2);
  for (const { received } of guests) received.splice(0);
  far.io.emit('m', 1);
  near.io.emit('m', 2);
  const { a, b } = await takeAll({ nodes, guests });
  assert.deepEqual(
    [a.sort(), b.sort()],
    Array(2).fill([
      ['m', 1],
      ['m', 2],
    ]),
  );
});

test('no broker at the start: local rooms work, and the connection comes later', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  await broker.kill();
  const at = { ...fleetAt(broker), connectTimeout: 200 };
  const nodes = [await openNode(t, at, { heartbeat }), await openNode(t, at, { heartbeat })];
  await assert.rejects(nodes[0].adapter.ready(), {
    code: 'MILLRACE_E_BROKER',
    message: /no broker answers/,
  });
  const guests = [await nodes[0].connect({ name: 'a' }), await nodes[1].connect({ name: 'b' })];
  nodes[0].io.emit('alone');
  assert.deepEqual(await guests[0].take(), [['alone']]);
  await broker.start();
  await knowing(nodes, 2);
  nodes[0].io.emit('together');
  assert.deepEqual(await takeAll({ nodes, guests }), { a: [['together']], b: [['together']] });
});

/** A client of the broker that is no adapter, and the subjects of a fleet. */
async function intruder(t, at) {
  const link = new Link(at, 'socket-io');
  t.after(() => link.close());
  await link.ready();
  const of = (...parts) => link.subject('socket-io', ...parts);
  const sender = newNode();
  const numbers = new Map();
  /** As the next message of this sender on the subject. */
  const batch = (subject, ...records) => {
    const number = numbers.get(subject) ?? 0;
    numbers.set(subject, number + 1);
    return encodeBatch(sender, number, records);
  };
  const send = (subject, ...records) => link.publish(subject, batch(subject, ...records));
  const subjects = { nodes: of('nodes'), all: of('/', 'all'), room: of('/', 'room', 'x') };
  // The whole list of a node, as one part of one, under a new version; a node without a list says goodbye.
  const whole = { flags: 3, data: Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]) };
  let version = 0;
  const say = (sender, namespaces) => {
    version++;
    const records = namespaces.map((name, n) => {
      const data = Buffer.alloc(14 + name.length);
      // After the age: each has a number that the node has not used before.
      data.writeUIntBE(10 * version + n, 8, 6);
      data.write(name, 14);
      return { flags: 1, data };
    });
    const list =
      namespaces.length > 0 ? [whole, ...records] : [{ flags: 6, data: Buffer.alloc(0) }];
    link.publish(subjects.nodes, encodeBatch(sender, version, list));
  };
  return { link, send, say, batch, numbers, sender, ...subjects };
}

test('messages that are not of this format are counted and do no harm', { skip }, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 1, heartbeat });
  const [{ adapter, io }] = fleet.nodes;
  const [a] = fleet.guests;
  await a.server.join('x');
  a.server.onAnyOutgoing(() => {});
  const { link, send, all, room, nodes } = await intruder(t, fleet.at);
  const record = (head, ...parts) => ({ flags: 0, data: packed(JSON.stringify(head), ...parts) });
  const opts = { rooms: [] };
  // Who makes a text or a number of it throws.
  const unprintable = { toString: 1, valueOf: 1 };
  const bad = [
    { flags: 0, data: Buffer.alloc(0) },
    { flags: 0, data: Buffer.alloc(7, 255) },
    { flags: 0, data: Buffer.alloc(64, 255) },
    { flags: 2, data: packed('{"kind":"broadcast"', 'x') },
    { flags: 0, data: Buffer.concat([packed('{}'), Buffer.from([1, 0, 0, 0, 9])]) },
    { flags: 0, data: Buffer.concat([packed('{}'), Buffer.from([1])]) },
    ...['null', '7', '[]', '{', '{"kind":1}', '{"kind":"unknown","rooms":[]}'].map((json) => ({
      flags: 0,
      data: packed(json),
    })),
    record({ kind: 'broadcast', ...opts }),
    record({ kind: 'broadcast', rooms: [1] }, '2["m"]'),
    record({ kind: 'broadcast', rooms: 'x' }, '2["m"]'),
    record({ kind: 'broadcast', rooms: [], except: {} }, '2["m"]'),
    record({ kind: 'ask', request: 'one', ...opts }, '2["m"]'),
    record({ kind: 'ask', request: 1, ...opts }, 'not a packet'),
    record({ kind: 'ask', request: 1, ...opts }),
    record({ kind: 'join', ...opts }),
    record({ kind: 'leave', ...opts, names: 'x' }),
    record({ kind: 'ask', request: 1, ...opts, timeout: '1' }, '2["m"]'),
    record({ kind: 'ask', request: 1, ...opts, timeout: unprintable }, '2["m"]'),
    record({ kind: 'fetch', ...opts }),
    record({ kind: 'emit', packet: 'm' }),
    ...[[], [1], [unprintable], ['connection', {}], ['new_namespace', {}]].map((packet) =>
      record({ kind: 'emit', packet }),
    ),
    record({ kind: 'emit', packet: ['m'], request: unprintable }),
    record({ kind: 'counted', request: 1 }),
    record({ kind: 'counted', request: 1, count: -1 }),
    record({ kind: 'failed', request: 1, message: unprintable }),
    record({ kind: 'sockets', request: 1, sockets: {} }),
    record({ kind: 'sockets', request: 1, sockets: [null] }),
    record({ kind: 'sockets', request: 1, sockets: [{ id: 'x', handshake: {} }] }),
  ];
  for (const each of bad) send(all, each);
  // Fine in form, but of requests that nobody has made.
  for (const kind of ['answer', 'reply', 'failed'])
    send(all, record({ kind, request: 99, value: 1, message: 'm' }));
  send(all, record({ kind: 'counted', request: 99, count: 1 }));
  // Announces more, of rooms that are heard and not, which never comes; then a broadcast that no client can read.
  send(
    room,
    { flags: 1, data: Buffer.alloc(7, 1) },
    record({ kind: 'broadcast', rooms: ['x'] }, '2["fine"]'),
  );
  for (const payload of [Buffer.alloc(0), Buffer.alloc(40, 77), Buffer.from('{}')]) {
    link.publish(all, payload);
    link.publish(room, payload);
    link.publish(nodes, payload);
  }
  send(nodes, { flags: 0, data: Buffer.from('{"namespaces":[1]}') });
  send(nodes);

  send(all, {
    flags: 0,
    data: packed('{"kind":"join","rooms":[],"names":["__proto__"],"__proto__":{"y":1}}'),
  });
  await a.until((received) => received.length > 0);
  await when(() => adapter.stats().malformed === bad.length + 9 + 2);
  await when(() => a.server.rooms.has('__proto__'));
  io.to('x').emit('well');
  io.to('__proto__').emit('too');
  assert.deepEqual(await a.take(), [['fine'], ['well'], ['too']]);
  assert.equal({}.y, undefined);
});

test('reports of other servers are bounded, and those beyond the bound are counted', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 1, heartbeat: 60_000 });
  const [{ adapter }] = fleet.nodes;
  const { link, say } = await intruder(t, fleet.at);
  const named = (n) => Buffer.from(`made${`${n}`.padStart(5, '0')}`).toString('base64url');
  for (let n = 0; n < 12_000; n++) say(named(n), ['/']);
  await when(() => adapter.stats().nodes + adapter.stats().ignored === 12_000);
  assert.deepEqual([adapter.stats().nodes, adapter.stats().ignored], [10_000, 2000]);
  // Their namespaces may be long: those of some 80 of these fit.
  const long = ['x'.repeat(800_000)];
  for (let n = 0; n < 100; n++) {
    say(named(n), long);
    await link.flush();
  }
  await when(() => adapter.stats().ignored > 2000);
  assert.equal(adapter.stats().nodes, 10_000);
  // A node that says that it has none is gone, and makes room.
  say(named(0), []);
  await when(() => adapter.stats().nodes === 9999);
  say(named(0), ['/']);
  await when(() => adapter.stats().nodes === 10_000);
});

test('requests of other servers that wait for clients here are bounded', { skip }, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 1, heartbeat });
  const [{ adapter }] = fleet.nodes;
  const [a] = fleet.guests;
  const { send, all } = await intruder(t, fleet.at);
  const asks = (rooms, count) =>
    Array.from({ length: count }, (_, request) => ({
      flags: 0,
      data: packed(JSON.stringify({ kind: 'ask', request, rooms, timeout: 60_000 }), '2["m"]'),
    }));
  // Nobody is there to answer these, so none of them waits.
  send(all, ...asks(['nobody'], 5000));
  send(all, ...asks(['nobody'], 5000));
  // Requests of one message are asked before any client can answer.
  send(all, ...asks([], 10_003));
  await when(() => adapter.stats().ignored > 0);
  assert.equal(adapter.stats().ignored, 3);
  await a.until((received) => received.length === 10_000);
});

test('messages that come twice are left out, and those that do not come are counted', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 1, heartbeat });
  const [{ adapter }] = fleet.nodes;
  const [a] = fleet.guests;
  const { link, send, batch, numbers, all } = await intruder(t, fleet.at);
  const says = (n) => ({
    flags: 0,
    data: packed('{"kind":"broadcast","rooms":[]}', `2["m",${n}]`),
  });
  const first = batch(all, says(1));
  for (let copies = 0; copies < 3; copies++) link.publish(all, first);
  numbers.set(all, 5);
  send(all, says(2));
  link.publish(all, first);
  send(all, says(3));
  await a.until((received) => received.length === 3);
  assert.deepEqual(a.received, [
    ['m', 1],
    ['m', 2],
    ['m', 3],
  ]);
  send(all, { flags: 0, data: Buffer.alloc(1) });
  await when(() => adapter.stats().malformed === 1);
  const { missed, duplicates } = adapter.stats();
  assert.deepEqual({ missed, duplicates }, { missed: 4, duplicates: 3 });
  const of = (name) =>
    collect().filter((point) => point.name === name && point.labels.source === 'socket-io');
  assert.ok(of('broker_missed_total')[0].value >= 4);
  assert.ok(of('broker_malformed_total')[0].value >= 1);
  assert.ok(of('errors_total').length === 1);
});

test('a server whose messages are of another version is no part of the fleet, and counted', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 1, heartbeat });
  const [{ adapter, io }] = fleet.nodes;
  const { link, batch, nodes, all } = await intruder(t, fleet.at);
  for (const [subject, json] of [
    [nodes, Buffer.from('{"namespaces":["/"]}')],
    [all, packed('{"kind":"broadcast","rooms":[]}', '2["m"]')],
  ]) {
    const payload = batch(subject, { flags: 0, data: json });
    payload[1] = 2;
    link.publish(subject, payload);
  }
  await when(() => adapter.stats().malformed === 2);
  assert.equal(adapter.stats().nodes, 0);
  assert.equal((await io.fetchSockets()).length, 1);
  assert.deepEqual(await fleet.guests[0].take(), []);
});

test('a server that has said how many clients it has, and then dies, is not waited for', {
  skip,
}, async (t) => {
  const { other, ios, guest } = await withProgram(t);
  const { note } = guest;
  guest.note = (message) => {
    if (typeof message.at(-1) !== 'function') note.call(guest, message);
  };
  // The client has it: its server has counted it, and waits.
  const asked = new Promise((resolve) => guest.client.once('m', resolve));
  const acks = ios[0].timeout(longMs).emitWithAck('m', 1);
  await asked;
  await other.ask({ do: 'count' });
  await other.kill();
  assert.deepEqual((await acks).sort(), ['a', 'b']);
});

/** A record as the adapter makes it, without a position. */
function packed(json, ...parts) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(Buffer.byteLength(json), 4);
  const rest = parts.map((part) => {
    const before = Buffer.alloc(5);
    before.writeUInt32BE(part.length, 1);
    return Buffer.concat([before, Buffer.from(part)]);
  });
  return Buffer.concat([head, Buffer.from(json), ...rest]);
}

test('a node that says it is there and never answers', { skip }, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 2, heartbeat });
  const { nodes, ios } = fleet;
  const { say, sender } = await intruder(t, fleet.at);
  const timer = setInterval(() => say(sender, ['/']), heartbeat / 3);
  t.after(() => clearInterval(timer));
  await knowing(nodes, 3);
  // The one that does answer may need some time, too.
  for (let ms = 200, missing = 2; missing > 1; ms *= 2) {
    const { code, message } = await ios[0]
      .timeout(ms)
      .fetchSockets()
      .catch((reason) => reason);
    assert.equal(code, 'MILLRACE_E_TIMEOUT');
    assert.match(message, new RegExp(`other servers have not answered within ${ms} ms`));
    missing = Number(/(\d+) other servers/.exec(message)[1]);
  }
  ios[1].on('m', (callback) => callback('b'));
  const pending = askServers(ios[0], 'm');
  clearInterval(timer);
  assert.deepEqual(await pending, ['b']);
});

test('an error of a listener is an uncaught exception, and nothing else is lost by it', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const fleet = await openFleet(t, broker, { count: 2, heartbeat });
  const { ios, guests } = fleet;
  const thrown = new Promise((resolve) => {
    const known = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => {
      for (const listener of known) process.on('uncaughtException', listener);
      resolve(error);
    });
  });
  ios[1].on('m', () => {
    throw new Error('of the listener');
  });
  ios[0].serverSideEmit('m');
  ios[0].emit('after');
  assert.equal((await thrown).message, 'of the listener');
  assert.deepEqual((await takeAll(fleet)).b, [['after']]);
  assert.equal(guests.length, 2);
});

test('connection state recovery: at the same server, with what others have sent meanwhile', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const recovery = { connectionStateRecovery: {}, heartbeat };
  const fleet = await openFleet(t, broker, { count: 2, ...recovery });
  const { ios, guests, nodes } = fleet;
  const [a, b] = guests;
  await b.server.join('x');
  ios[0].emit('first');
  // The last argument is the offset; it is another one at each server.
  const first = await takeAll(fleet);
  assert.deepEqual([first.a[0][0], first.b[0][0]], ['first', 'first']);
  const sent = nodes[0].adapter.stats().broker.sent;
  a.server.emit('to a alone');
  const gone = once(b.server, 'disconnect');
  b.client.io.engine.close();
  await gone;
  ios[0].to('x').emit('missed', Buffer.from('1'));
  ios[0].to('y').emit('not for b');
  ios[0].except('x').emit('not for b either');
  ios[0].emit('missed', 2);
  ios[1].emit('missed', 3);
  await ios[0].timeout(longMs).fetchSockets();
  assert.ok(nodes[0].adapter.stats().broker.sent > sent);
  const connected = once(ios[1], 'connection');
  b.client.connect();
  const [socket] = await connected;
  assert.equal(socket.recovered, true);
  assert.ok(socket.rooms.has('x'));
  // Those that were missed came with the connection, before anything else.
  b.server = socket;
  socket.on('fence', (answer) => answer());
  const missed = (await b.take())
    .map((message) => message.slice(0, 2))
    .toSorted((x, y) => String(x[1]).localeCompare(String(y[1])));
  assert.deepEqual(missed, [
    ['missed', Buffer.from('1')],
    ['missed', 2],
    ['missed', 3],
  ]);
});

test('options', () => {
  const broker = 'nats://127.0.0.1:1';
  for (const [options, message] of [
    [null, /natsAdapter\(\): 'options' is null; it must be an object/],
    [{}, /servers|broker/],
    [{ broker: 'http://x' }, /servers.*nats:/],
    [{ broker, heartbeats: 1 }, /heartbeats.*is 'heartbeat' meant/],
    [{ broker, heartbeat: 49 }, /heartbeat.*50/],
    [{ broker, heartbeat: '100' }, /heartbeat/],
    [{ broker, durable: 'x' }, /durable.*true or false, or a function/],
    [{ broker, durable: true, stream: { maxAge: 1 } }, /stream\.maxAge.*1,?000/],
    [{ broker, stream: { age: 1 } }, /age/],
  ]) {
    assert.throws(() => natsAdapter(options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  }
});

test('an adapter with a broker is for one server', { skip }, async (t) => {
  const broker = await natsServer(t);
  const adapter = natsAdapter({ broker: fleetAt(broker) });
  assert.equal(adapter.stats(), null);
  for (const method of ['ready', 'acknowledged'])
    await assert.rejects(adapter[method](), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /io\.adapter/,
    });
  const house = await open(t, { adapter });
  await adapter.ready();
  assert.throws(() => new Server({ adapter }), {
    code: 'MILLRACE_E_INVALID_ARGUMENT',
    message: /each needs its own/,
  });
  // Set once more, it takes the place of what was there.
  house.io.adapter(adapter);
  await house.connect({ name: 'a' });
  assert.deepEqual(await house.io.timeout(longMs).emitWithAck('m'), ['a']);
  assert.equal(await countOf(house), 1);
});
