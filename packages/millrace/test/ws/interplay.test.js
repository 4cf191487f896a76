/** The application goes on using the socket while rooms write to it. */
import assert from 'node:assert/strict';
import { Blob } from 'node:buffer';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, randomFrom, range, texts, turn, untilRead } from './hall.js';

async function setUp(t, options) {
  const hall = await openHall(t);
  const peer = await hall.connect();
  const rooms = new Rooms({ maxDeferral: 3_600_000, ...options });
  rooms.join(peer.server, 'x');
  return { peer, rooms };
}

/** Lets the retry of a message in fragments come round a few times. */
const severalRetries = () => new Promise((resolve) => setTimeout(resolve, 25));

test('messages of the application and of rooms do not mix, whatever their sizes', async (t) => {
  const { peer, rooms } = await setUp(t, { maxPending: 2 ** 30 });
  const random = randomFrom(3);
  const own = [];
  const published = [];
  for (const n of range(200)) {
    const padding = 'p'.repeat(random() < 0.1 ? 200_000 * random() : 300 * random());
    if (random() < 0.4) {
      own.push(`own ${n} ${padding}`);
      peer.server.send(own.at(-1));
    } else {
      published.push(`published ${n} ${padding}`);
      rooms.publish('x', published.at(-1));
    }
    if (random() < 0.2) peer.server.ping(`ping ${n}`);
    if (random() < 0.3) await turn();
  }
  await peer.until((received) => received.length === 200);
  assert.deepEqual(peer.errors, []);
  assert.deepEqual(
    peer.received.filter((text) => text.startsWith('own')),
    own,
  );
  assert.deepEqual(
    peer.received.filter((text) => text.startsWith('published')),
    published,
  );
});

test('a ping with data passes between messages', async (t) => {
  const { peer, rooms } = await setUp(t);
  const pinged = new Promise((resolve) => peer.client.once('ping', resolve));
  rooms.publish('x', '1');
  peer.server.ping('are you there');
  rooms.publish('x', '2');
  assert.deepEqual(await peer.take(), ['1', '2']);
  assert.equal(String(await pinged), 'are you there');
});

test('frames flushed before a close of the application arrive before it', async (t) => {
  const { peer, rooms } = await setUp(t);
  rooms.publish('x', '1');
  rooms.flush();
  rooms.publish('x', 'too late');
  peer.server.close(4000, 'bye');
  await turn();
  assert.equal(await peer.closed, 4000);
  assert.deepEqual(peer.errors, []);
  assert.deepEqual(peer.received, ['1']);
});

test('messages published while the application sends a message in fragments wait for its end', async (t) => {
  const { peer, rooms } = await setUp(t);
  peer.server.send('frag', { fin: false });
  rooms.publish('x', 'low', { priority: 'low' });
  rooms.publish('x', 'normal');
  await severalRetries();
  peer.server.send('men', { fin: false });
  rooms.publish('x', 'high', { priority: 'high' });
  await severalRetries();
  assert.deepEqual(await peer.take(), []);
  peer.server.send('ts', { fin: true });
  await peer.until((received) => received.length === 4);
  assert.deepEqual(peer.received, ['fragments', 'high', 'normal', 'low']);
  assert.deepEqual(peer.errors, []);
});

test('fragments that are still being read from a Blob count as well', async (t) => {
  const { peer, rooms } = await setUp(t);
  peer.server.send('a', { fin: false });
  peer.server.send(new Blob(['b']), { fin: false });
  peer.server.send('c', { fin: true });
  rooms.publish('x', 'after');
  rooms.flush();
  await peer.until((received) => received.length === 2);
  assert.deepEqual(peer.errors, []);
  assert.deepEqual(peer.received, ['abc', 'after']);
});

test('messages that wait for the end of fragments are bounded like any backlog', async (t) => {
  const { peer, rooms } = await setUp(t, { maxPending: 10_000 });
  untilRead(peer);
  peer.server.send('never ends', { fin: false });
  for (const n of range(20)) {
    rooms.publish('x', `${n}${'.'.repeat(998)}`);
    await turn();
  }
  assert.equal(await peer.closed, 1013);
  assert.equal(rooms.stats().slowClosed, 1);
  assert.deepEqual(texts(peer.received), []);
});

test('two sets of rooms share a socket', async (t) => {
  const { peer, rooms } = await setUp(t);
  const more = new Rooms();
  more.join(peer.server, 'x');
  rooms.publish('x', 'of one');
  more.publish('x', 'of the other');
  assert.deepEqual((await peer.take()).sort(), ['of one', 'of the other']);
});

test("a client's socket can be a member: its frames are masked", async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(2);
  const rooms = new Rooms();
  const received = peers.map(
    ({ client, server }) =>
      new Promise((resolve) => {
        rooms.join(client, 'upstream');
        const messages = [];
        server.on('message', (data) => {
          if (messages.push(data.toString()) === 3) resolve(messages);
        });
        server.on('close', () => resolve(messages));
      }),
  );
  for (const n of '123') rooms.publish('upstream', n);
  assert.deepEqual(await Promise.all(received), [
    ['1', '2', '3'],
    ['1', '2', '3'],
  ]);
});
