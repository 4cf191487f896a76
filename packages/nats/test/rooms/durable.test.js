/** Durable rooms: what the broker has acknowledged reaches every node, whatever happens on the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import { performance, stillClock } from '../../../base/test/clocks.js';
import { range, turn } from '../../../millrace/test/ws/hall.js';
import { natsServer } from '../nats.js';
import { node } from '../process.js';
import { proxy } from '../proxy.js';
import { managerOf, rawTo } from '../raw.js';
import { away, back, openNode, openNodes, until } from './fleet.js';

const durable = { durable: true };
const jetstream = { jetstream: true };
const program = new URL('programs/node.js', import.meta.url);

async function openProcess(t, broker, options = durable) {
  const peer = node(t, program, { BROKER: broker, OPTIONS: JSON.stringify(options) });
  const { failure } = await peer.says();
  assert.equal(failure, null);
  return peer;
}

const numbers = ({ received }) => received.map(Number);
/** They may come after the stream has been read anew; each is there once, and in order. */
const has = (peer, count) => peer.until((received) => received.length >= count);

test('a durable room is for all nodes what others are, and only it is stored', async (t) => {
  const server = await natsServer(t, jetstream);
  const some = { durable: (room) => room.startsWith('d') };
  const [a, b] = await openNodes(t, server.url, 2, some, { room: 'd' });
  for (const { rooms, peer } of [a, b]) rooms.join(peer.server, 'plain');
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  // None of them ages while they are published.
  stillClock(t);
  for (const n of range(30)) {
    assert.equal(a.rooms.publish('d', `${n}`, { priority: n === 29 ? 'high' : 'normal' }), 1);
  }
  a.rooms.publish('d', Buffer.from('b'));
  // Those here get it at once.
  await has(a.peer, 31);
  performance.now.mock.restore();
  await a.rooms.acknowledged();
  await has(b.peer, 31);
  const expected = ['29', ...range(29).map(String)];
  assert.deepEqual(b.peer.received.slice(0, 30), expected);
  assert.deepEqual(b.peer.received[30], Buffer.from('b'));
  a.rooms.publish('plain', 'p');
  await has(b.peer, 32);
  const { stored, backlog, backlogBytes } = a.fleet().durable;
  assert.deepEqual({ stored, backlog, backlogBytes }, { stored: 31, backlog: 0, backlogBytes: 0 });
  const { received, missed, duplicates } = b.fleet();
  assert.deepEqual({ received, missed, duplicates }, { received: 32, missed: 0, duplicates: 0 });
  assert.equal(a.fleet().received, 0);
});

test('kill -9 of the broker, again and again: nothing is lost, nothing comes twice', async (t) => {
  const server = await natsServer(t, jetstream);
  const [a, b, c] = await openNodes(t, server.url, 3, durable);
  let n = 0;
  const publish = async (count) => {
    for (const _ of range(count)) {
      a.rooms.publish('x', `${n}`);
      b.rooms.publish('x', `${1e6 + n}`);
      n++;
      if (n % 5 === 0) await turn();
    }
  };
  for (const _ of range(3)) {
    await publish(200);
    await server.kill();
    // Members here have it, whatever the broker does.
    await publish(200);
    await server.start();
    await publish(100);
  }
  await Promise.all([a, b].map(({ rooms }) => rooms.acknowledged()));
  await has(c.peer, 2 * n);
  const got = numbers(c.peer);
  assert.deepEqual(
    got.filter((each) => each < 1e6),
    range(n),
  );
  assert.deepEqual(
    got.filter((each) => each >= 1e6),
    range(n).map((each) => 1e6 + each),
  );
  await has(a.peer, 2 * n);
  for (const { fleet } of [a, b, c]) assert.equal(fleet().missed, 0);
});

test('a node that was cut off reads what it has missed', async (t) => {
  const server = await natsServer(t, jetstream);
  const cable = await proxy(t, server.port);
  const a = await openNode(t, server.url, durable);
  const b = await openNode(t, cable.url, durable);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.rooms.publish('x', '0');
  await has(b.peer, 1);
  cable.cut();
  await away(b);
  for (const n of range(300)) {
    a.rooms.publish('x', `${n + 1}`);
    if (n % 10 === 0) await turn();
  }
  b.rooms.publish('x', '1000');
  await a.rooms.acknowledged();
  cable.heal();
  await b.rooms.acknowledged();
  await has(b.peer, 302);
  assert.deepEqual(
    numbers(b.peer).filter((n) => n < 1000),
    range(301),
  );
  await has(a.peer, 302);
  assert.equal(a.peer.received.at(-1), '1000');
  const { missed, durable: counts } = b.fleet();
  assert.deepEqual([missed, counts.replays > 0], [0, true]);
});

test('kill -9 of a node that publishes: what it knew to be stored is there', async (t) => {
  const server = await natsServer(t, jetstream);
  const b = await openNode(t, server.url, durable);
  await b.rooms.ready();
  const a = await openProcess(t, server.url);
  await a.ask({ do: 'publish', room: 'x', to: 1000 });
  await a.ask({ do: 'acknowledged' });
  a.tell({ do: 'publish', room: 'x', from: 1000, to: 100_000 });
  await has(b.peer, 2000);
  await a.kill();
  // What it was about to send is lost with it: a row without a gap.
  const got = numbers(b.peer);
  assert.deepEqual(got, range(got.length));
});

test('a node that stands still gets everything when it goes on', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, durable);
  await a.rooms.ready();
  const b = await openProcess(t, server.url);
  await b.ask({ do: 'join', room: 'x' });
  b.pause();
  for (const n of range(2000)) {
    a.rooms.publish('x', `${n}`);
    if (n % 4 === 0) await turn();
  }
  await a.rooms.acknowledged();
  b.resume();
  await until(async () => (await b.ask({ do: 'count' }))[0] >= 2000);
  assert.deepEqual(await b.ask({ do: 'received' }), [range(2000)]);
});

test('messages for which a node has no room are read again', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, durable);
  const b = await openNode(t, server.url, { ...durable, maxQueue: 30 });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  for (const n of range(500)) a.rooms.publish('x', `${n}`);
  await has(b.peer, 500);
  assert.deepEqual(numbers(b.peer), range(500));
  const { refused, missed, duplicates, durable: counts } = b.fleet();
  assert.ok(counts.replays > 0);
  assert.deepEqual([refused, missed, duplicates], [0, 0, 0]);
});

test('messages that wait for the broker are bounded, and publish says so', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, { servers: server.url, maxPending: 65_536 }, durable);
  await a.rooms.ready();
  await server.kill();
  await away(a);
  const sent = [];
  const full = { code: 'MILLRACE_E_OVERLOADED', message: /maxPending of option 'broker' is 65536/ };
  const publish = () => {
    for (const n of range(100)) {
      a.rooms.publish('x', `${n} ${'.'.repeat(1000)}`);
      sent.push(n);
    }
  };
  assert.throws(publish, full);
  assert.ok(sent.length > 40);
  // Nobody has got the one that was refused.
  assert.equal((await a.peer.take()).length, sent.length);
  assert.equal(a.fleet().durable.backlog, sent.length);
  const acknowledged = a.rooms.acknowledged();
  await server.start();
  await acknowledged;
  assert.equal(a.fleet().durable.backlogBytes, 0);
  a.rooms.publish('x', 'there is room again');
  await a.rooms.acknowledged();
});

test('queued messages are given back when the broker goes and the queue refuses more', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, { ...durable, maxQueue: 5 });
  await a.rooms.ready();
  for (const n of range(5)) a.rooms.publish('x', `${n}`);
  assert.throws(() => a.rooms.publish('x', '5'), { code: 'MILLRACE_E_OVERLOADED' });
  await a.rooms.acknowledged();
  const { backlog, backlogBytes, stored } = a.fleet().durable;
  assert.deepEqual({ backlog, backlogBytes, stored }, { backlog: 0, backlogBytes: 0, stored: 5 });
});

test('batches stay below the limit of the broker, in order', async (t) => {
  const server = await natsServer(t, { ...jetstream, config: 'max_payload: 65536' });
  const [a, b] = await openNodes(t, server.url, 2, durable);
  const text = (n) => `${n} ${'.'.repeat(5000)}`;
  for (const n of range(60)) a.rooms.publish('x', text(n));
  a.rooms.publish('x', '.'.repeat(65_536 - 400));
  const large = { code: 'MILLRACE_E_TOO_LARGE' };
  assert.throws(() => a.rooms.publish('x', '.'.repeat(65_536 - 100)), large);
  await a.rooms.acknowledged();
  await has(b.peer, 61);
  assert.deepEqual(b.peer.received.slice(0, 60), range(60).map(text));
  assert.ok(b.fleet().receivedBatches >= 6);
});

test('a batch that is stored twice is delivered once; a malformed one not at all', async (t) => {
  const server = await natsServer(t, jetstream);
  const [a, b] = await openNodes(t, server.url, 2, durable);
  const raw = await rawTo(t, server);
  const copies = [];
  raw.subscribe('millrace.rooms.durable.x', { callback: (_, { data }) => copies.push(data) });
  await raw.flush();
  for (const n of range(3)) a.rooms.publish('x', `${n}`);
  await a.rooms.acknowledged();
  await until(() => copies.length > 0);
  const id = headers();
  id.set('Nats-Msg-Id', 'another');
  raw.publish('millrace.rooms.durable.x', copies[0], { headers: id });
  raw.publish('millrace.rooms.durable.x', Buffer.from('not a batch'));
  await raw.flush();
  a.rooms.publish('x', '3');
  await has(b.peer, 4);
  assert.deepEqual(numbers(b.peer), range(4));
  const { duplicates, malformed, missed } = b.fleet();
  assert.deepEqual({ duplicates, malformed, missed }, { duplicates: 3, malformed: 1, missed: 0 });
});

test('messages that a node sends again after a long silence are delivered once', async (t) => {
  const server = await natsServer(t, jetstream);
  const cable = await proxy(t, server.port);
  // The broker knows a message that is sent again for so long, and keeps it.
  const maxAge = 5000;
  const options = { ...durable, stream: { maxAge } };
  const a = await openNode(t, cable.url, options);
  const b = await openNode(t, server.url, options);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.rooms.publish('x', '0');
  await a.rooms.acknowledged();
  // The next one is stored, and its sender is cut off before it knows.
  cable.mute();
  a.rooms.publish('x', '1');
  await has(b.peer, 2);
  cable.cut();
  await until(() => b.fleet().nodes === 0);
  // Clocks of this process are ahead by an hour from now on.
  const { now } = performance;
  t.mock.method(performance, 'now', () => now() + 3_600_000);
  await sleep(maxAge + 2000);
  cable.heal();
  await a.rooms.acknowledged();
  a.rooms.publish('x', '2');
  await has(b.peer, 3);
  assert.deepEqual(numbers(b.peer), range(3));
  assert.equal(b.fleet().duplicates, 1);
});

test('a stream that is removed while all are there is made again', async (t) => {
  const server = await natsServer(t, jetstream);
  const [a, b] = await openNodes(t, server.url, 2, durable);
  a.rooms.publish('x', '0');
  await a.rooms.acknowledged();
  await has(b.peer, 1);
  const raw = await rawTo(t, server);
  const jsm = await managerOf(raw);
  await jsm.streams.delete('millrace_rooms');
  a.rooms.publish('x', '1');
  await a.rooms.acknowledged();
  await has(b.peer, 2);
  assert.deepEqual(numbers(b.peer), [0, 1]);
});

test('a stream that is set up otherwise, and a broker without streams, are refused', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, { ...durable, stream: { maxAge: 60_000 } });
  await a.rooms.ready();
  const b = await openNode(t, server.url, durable);
  const other = {
    code: 'MILLRACE_E_BROKER',
    message: /millrace_rooms is there with max_age 60000000000/,
  };
  await assert.rejects(b.rooms.ready(), other);
  assert.throws(() => b.rooms.publish('x', '1'), other);
  assert.deepEqual(await b.peer.take(), []);
  // Other rooms work, and these do as soon as the stream is right.
  const raw = await rawTo(t, server);
  await (await managerOf(raw)).streams.delete('millrace_rooms');
  await until(() =>
    b.rooms.ready().then(
      () => true,
      () => false,
    ),
  );
  b.rooms.publish('x', '2');
  await b.rooms.acknowledged();

  const plain = await natsServer(t);
  const c = await openNode(t, plain.url, durable);
  await assert.rejects(c.rooms.ready(), { code: 'MILLRACE_E_BROKER', message: /no JetStream/ });
});

test('nodes that start at the same moment make one stream', async (t) => {
  const server = await natsServer(t, jetstream);
  const broker = (n) => ({ servers: server.url, namespace: `n${n}` });
  // Six times five of them.
  const nodes = await Promise.all(range(30).map((n) => openNode(t, broker(n % 6), durable)));
  await Promise.all(nodes.map(({ rooms }) => rooms.ready()));
  for (const { rooms } of nodes) rooms.publish('x', '1');
  for (const { peer } of nodes) await has(peer, 5);
});

test('close waits for the broker to store what was published', async (t) => {
  const server = await natsServer(t, jetstream);
  const b = await openNode(t, server.url, durable);
  await b.rooms.ready();
  let first = 0;
  for (; ; first += 100) {
    const a = await openNode(t, server.url, durable);
    await a.rooms.ready();
    await server.kill();
    await Promise.all([away(a), away(b)]);
    for (const n of range(20)) a.rooms.publish('x', `${first + n}`);
    a.rooms.close();
    await server.start();
    const late = await a.rooms.closed().catch((error) => error);
    await back(b);
    if (late === undefined) break;
    // It waits for 10 s, which may be over before this broker is there.
    assert.match(late.message, /within 10000 ms/);
  }
  const ofLast = () => numbers(b.peer).filter((n) => n >= first);
  await b.peer.until(() => ofLast().length >= 20);
  assert.deepEqual(
    ofLast().map((n) => n - first),
    range(20),
  );
});

test('a message that is larger than the whole queue of a node is left out there, and others come', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, durable);
  const b = await openNode(t, server.url, { ...durable, maxQueueBytes: 1000 });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.rooms.publish('x', '.'.repeat(2000));
  a.rooms.publish('x', '1');
  await has(b.peer, 1);
  assert.deepEqual(b.peer.received, ['1']);
  assert.equal(b.fleet().refused, 1);
});

test('a message that is too large for the broker does not hold up the rest', async (t) => {
  const server = await natsServer(t, { ...jetstream, config: 'max_payload: 4096' });
  await server.kill();
  const a = await openNode(t, server.url, durable);
  const b = await openNode(t, server.url, durable);
  for (const each of ['0', '.'.repeat(8000), '1']) a.rooms.publish('x', each);
  a.rooms.publish('y', '2');
  await turn();
  const large = { code: 'MILLRACE_E_TOO_LARGE', message: /8000 bytes was published before the/ };
  const rejected = assert.rejects(a.rooms.acknowledged(), large);
  await server.start();
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  await rejected;
  await a.rooms.acknowledged();
  const { stored, backlog, backlogBytes } = a.fleet().durable;
  assert.deepEqual({ stored, backlog, backlogBytes }, { stored: 3, backlog: 0, backlogBytes: 0 });
  assert.equal(a.fleet().unsent, 1);
});

test('a broker that comes back with a lower limit gets smaller batches', async (t) => {
  const server = await natsServer(t, jetstream);
  const [a, b] = await openNodes(t, server.url, 2, durable);
  await server.kill();
  await away(a);
  for (const n of range(20)) a.rooms.publish('x', `${n}`.padEnd(2000));
  await turn();
  await server.start({ config: 'max_payload: 4096' });
  await a.rooms.acknowledged();
  await has(b.peer, 20);
  assert.deepEqual(numbers(b.peer), range(20));
});

test('a full queue leaves no readers behind at the broker', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, durable);
  const b = await openNode(t, server.url, { ...durable, maxQueue: 10 });
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  for (const n of range(100)) a.rooms.publish('x', `${n}`);
  await has(b.peer, 100);
  assert.ok(b.fleet().durable.replays > 5);
  const raw = await rawTo(t, server);
  const jsm = await managerOf(raw);
  await until(async () => (await jsm.streams.info('millrace_rooms')).state.consumer_count === 2);
});

test('a function for `durable` that throws leaves everything as it was', async (t) => {
  const server = await natsServer(t, jetstream);
  const error = new Error('what room is that?');
  const of = (room) => {
    if (room === 'bad') throw error;
    return true;
  };
  const a = await openNode(t, server.url, { durable: of });
  await a.rooms.ready();
  assert.throws(() => a.rooms.join(a.peer.server, 'bad', { id: 'ann' }), error);
  assert.throws(() => a.rooms.publish('bad', '1'), error);
  assert.deepEqual(a.rooms.presence('bad'), []);
  assert.deepEqual(a.rooms.of(a.peer.server), ['x']);
  assert.equal(a.rooms.stats().rooms, 1);
});

test('closed() waits for close()', async (t) => {
  const server = await natsServer(t, jetstream);
  const a = await openNode(t, server.url, durable);
  await a.rooms.ready();
  let isClosed = false;
  const closed = a.rooms.closed().then(() => {
    isClosed = true;
  });
  a.rooms.publish('x', '1');
  await a.rooms.acknowledged();
  assert.equal(isClosed, false);
  a.rooms.close();
  await closed;
});
