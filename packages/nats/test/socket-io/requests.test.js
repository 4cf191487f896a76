/** What one server asks of the others, or has them do. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { natsServer, unable } from '../nats.js';
import { longMs } from '../patience.js';
import {
  askServers,
  fence,
  fleetAt,
  knowing,
  openFleet,
  openNode,
  when,
  wholeFile,
} from './nodes.js';

const skip = unable;
const file = wholeFile();
let broker;
let fleet;

before(async () => {
  if (skip) return;
  broker = await natsServer(file);
  fleet = await openFleet(file, broker);
});

/** Has each of `ios` hear an event of other servers for as long as `play` runs. */
async function hearing(ios, event, listener, play) {
  for (const [n, io] of ios.entries()) io.on(event, (...args) => listener(n, ...args));
  try {
    return await play();
  } finally {
    for (const io of ios) io.of('/').removeAllListeners(event);
  }
}

test('acknowledgements of clients of all servers', { skip }, async () => {
  const [io] = fleet.ios;
  const [, b] = fleet.guests;
  await b.server.join('ack');
  const slow = io.timeout(longMs);
  const [all, room, nobody, local, single] = await Promise.all([
    slow.emitWithAck('m', Buffer.from('x')),
    slow.to('ack').emitWithAck('m'),
    slow.to('none').emitWithAck('m'),
    slow.local.emitWithAck('m'),
    slow.to(b.server.id).emitWithAck('m'),
  ]);
  assert.deepEqual(
    [all.sort(), room, nobody, local, single],
    [['a', 'b', 'c'], ['b'], [], ['a'], ['b']],
  );
  assert.equal(fleet.nodes[0].adapter.stats().requests, 0);
});

test('acknowledgements that do not come in time', { skip }, async () => {
  const [io, , third] = fleet.ios;
  const [, , c] = fleet.guests;
  const { note } = c;
  c.note = () => {};
  let responses = [];
  // Those that do answer may need some time, too.
  for (let ms = 200; responses.length < 2; ms *= 2) {
    const error = await io
      .timeout(ms)
      .emitWithAck('m')
      .catch((reason) => reason);
    assert.equal(error.message, 'operation has timed out');
    ({ responses } = error);
  }
  c.note = note;
  assert.deepEqual(responses.sort(), ['a', 'b']);
  await when(() => third.of('/').sockets.get(c.server.id).acks.size === 0);
  await when(() => fleet.nodes[0].adapter.stats().requests === 0);
});

test('fetchSockets', { skip }, async () => {
  const [io] = fleet.ios;
  const [a, b, c] = fleet.guests;
  b.server.data = { user: { name: 'b', since: new Date(0) }, picture: Buffer.from('b') };
  await b.server.join(['fetch', 'other']);
  await c.server.join('fetch');
  const ids = async (operator) =>
    (await operator.timeout(longMs).fetchSockets()).map(({ id }) => id).sort();
  const all = [a, b, c].map(({ server }) => server.id).sort();
  assert.deepEqual(await ids(io), all);
  assert.deepEqual(await ids(io.local), [a.server.id]);
  assert.deepEqual(await ids(io.in('fetch').except('other')), [c.server.id]);
  const [remote] = await io.in('other').timeout(longMs).fetchSockets();
  assert.equal(remote.id, b.server.id);
  assert.deepEqual([...remote.rooms].sort(), [...b.server.rooms].sort());
  assert.equal(remote.handshake.url, b.server.handshake.url);
  assert.deepEqual(remote.data, {
    user: { name: 'b', since: '1970-01-01T00:00:00.000Z' },
    picture: Buffer.from('b'),
  });
  remote.emit('to b alone');
  remote.join('joined by another');
  await fence(fleet.nodes);
  assert.ok(b.server.rooms.has('joined by another'));
  assert.ok(b.received.some(([event]) => event === 'to b alone'));
  assert.ok(!c.received.some(([event]) => event === 'to b alone'));
});

test('fetchSockets: more than a message of the broker takes', { skip }, async () => {
  const [io, second] = fleet.ios;
  const guests = [];
  for (let n = 0; n < 5; n++) {
    const guest = await fleet.nodes[1].connect({ name: `large ${n}` });
    guest.server.data = 'x'.repeat(400_000);
    await guest.server.join('large');
    guests.push(guest);
  }
  const all = io.in('large').timeout(longMs);
  const sockets = await all.fetchSockets();
  assert.deepEqual(
    sockets.map(({ data }) => data.length),
    Array(5).fill(400_000),
  );
  guests[2].server.data = 'x'.repeat(2_000_000);
  await assert.rejects(all.fetchSockets(), /another server: .*above the broker's limit/);
  const circle = {};
  circle.circle = circle;
  guests[2].server.data = circle;
  await assert.rejects(all.fetchSockets(), /another server: .*circular/);
  assert.equal(fleet.nodes[1].adapter.stats().unanswered, 2);
  second.in('large').disconnectSockets(true);
});

test('socketsJoin and socketsLeave', { skip }, async () => {
  const [io, second] = fleet.ios;
  const [a, b, c] = fleet.guests;
  const rooms = () => [a, b, c].map(({ server }) => server.rooms.has('x'));
  io.in([a.server.id, b.server.id, c.server.id]).socketsJoin('x');
  await fence(fleet.nodes);
  assert.deepEqual(rooms(), [true, true, true]);
  second.in('x').except(c.server.id).socketsLeave('x');
  await fence(fleet.nodes);
  assert.deepEqual(rooms(), [false, false, true]);
  io.local.socketsJoin('x');
  second.local.in('x').socketsLeave('x');
  await fence(fleet.nodes);
  assert.deepEqual(rooms(), [true, false, true]);
  io.socketsLeave('x');
  await fence(fleet.nodes);
  assert.deepEqual(rooms(), [false, false, false]);
});

test('disconnectSockets', { skip }, async () => {
  const [io] = fleet.ios;
  const guest = await fleet.nodes[1].connect({ name: 'leaves' });
  const other = await fleet.nodes[2].connect({ name: 'leaves too' });
  const reasons = [guest, other].map(
    ({ client }) => new Promise((resolve) => client.once('disconnect', resolve)),
  );
  await guest.server.join('leaving');
  io.in('leaving').disconnectSockets();
  assert.equal(await reasons[0], 'io server disconnect');
  io.in(other.server.id).disconnectSockets(true);
  await reasons[1];
  await when(() => other.client.io.engine.readyState === 'closed');
});

test('serverSideEmit', { skip }, async () => {
  const heard = [];
  const note = (n, ...args) => heard.push([n, ...args]);
  await hearing(fleet.ios, 'm', note, async () => {
    const values = [1, 'two', { three: [3] }, Buffer.from('4'), new Date(0), undefined, () => {}];
    fleet.ios[0].serverSideEmit('m', ...values, 'end');
    await when(() => heard.length === 2);
  });
  const expected = [
    1,
    'two',
    { three: [3] },
    Buffer.from('4'),
    new Date(0).toJSON(),
    null,
    null,
    'end',
  ];
  assert.deepEqual(heard.sort(), [
    [1, ...expected],
    [2, ...expected],
  ]);
});

test('serverSideEmit with answers', { skip }, async () => {
  const [io] = fleet.ios;
  const answer = (n, question, callback) => {
    callback({ n, question });
    callback('again');
  };
  const answers = await hearing(fleet.ios, 'm', answer, () =>
    askServers(io, 'm', Buffer.from('?')),
  );
  answers.sort((x, y) => x.n - y.n);
  assert.deepEqual(
    answers,
    [1, 2].map((n) => ({ n, question: Buffer.from('?') })),
  );
});

test('serverSideEmit: an answer that cannot be sent', { skip }, async () => {
  const answer = (n, callback) => callback(n === 1 ? 'fine' : 10n);
  await hearing(fleet.ios, 'm', answer, () =>
    assert.rejects(askServers(fleet.ios[0], 'm'), /another server: .*BigInt/),
  );
});

test('a namespace is a fleet of its own', { skip }, async () => {
  const [first, second, third] = fleet.ios;
  assert.equal(await first.of('/new').adapter.serverCount(), 1);
  second.of('/new');
  await knowing(fleet.nodes.slice(0, 2), 2, '/new');
  assert.equal(await third.of('/').adapter.serverCount(), 3);
  const heard = [];
  for (const io of [second, third]) io.of('/').on('n', () => heard.push('/'));
  second.of('/new').on('n', () => heard.push('/new'));
  first.of('/new').serverSideEmit('n');
  await when(() => heard.length > 0);
  await fence(fleet.nodes);
  assert.deepEqual(heard, ['/new']);
  second._nsps.delete('/new');
  await second.of('/new').adapter.close();
  await when(async () => (await first.of('/new').adapter.serverCount()) === 1);
});

test('servers that come and go', { skip }, async (t) => {
  const at = fleetAt(broker);
  const node = await openNode(t, at);
  const [{ io }] = [node];
  assert.equal(await io.of('/').adapter.serverCount(), 1);
  assert.deepEqual(await io.serverSideEmitWithAck('m'), []);
  assert.deepEqual(await io.fetchSockets(), []);
  const other = await openNode(t, at);
  await knowing([node, other], 2);
  await other.close();
  await knowing([node], 1);
  assert.equal(other.adapter.stats().broker.state, 'closed');
  const third = await openNode(t, at);
  await knowing([node, third], 2);
});
