/** Sockets that negotiated permessage-deflate, whose frames only ws itself can encode. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, randomFrom, range, turn, untilRead } from './hall.js';

const perMessageDeflate = { threshold: 0 };

/** One socket that compresses and one that does not, in the same room. */
async function setUp(t, options) {
  const hall = await openHall(t, { perMessageDeflate });
  const packed = await hall.connect();
  const plain = await hall.connect({ perMessageDeflate: false });
  assert.match(packed.server.extensions, /permessage-deflate/);
  assert.equal(plain.server.extensions, '');
  const rooms = new Rooms(options);
  for (const { server } of [packed, plain]) rooms.join(server, 'x');
  return { packed, plain, rooms };
}

/** What a peer has received when `count` messages are there. */
async function all(peer, count) {
  await peer.until((received) => received.length >= count);
  assert.deepEqual(peer.errors, []);
  return peer.received.splice(0);
}

test('sockets with and without compression get the same', async (t) => {
  const { packed, plain, rooms } = await setUp(t, { maxDeferral: 3_600_000 });
  const binary = Buffer.from(range(100_000).map((n) => n * n));
  rooms.publish('x', 'low', { priority: 'low' });
  rooms.publish('x', '');
  rooms.publish('x', 'text 界 '.repeat(20_000));
  rooms.publish('x', binary);
  rooms.publish('x', Buffer.alloc(0));
  rooms.publish('x', Buffer.from('text'), { binary: false });
  rooms.publish('x', 'high', { priority: 'high' });
  const texts = ['', 'text 界 '.repeat(20_000), binary, Buffer.alloc(0), 'text'];
  const expected = ['high', ...texts, 'low'];
  assert.deepEqual(await all(packed, 7), expected);
  assert.deepEqual(await all(plain, 7), expected);
});

test('turns, own messages and those of the application stay in order', async (t) => {
  const { packed, plain, rooms } = await setUp(t);
  for (const n of range(50)) {
    rooms.publish('x', `${n} room`);
    rooms.send(packed.server, `${n} own`);
    await turn();
  }
  assert.deepEqual(
    await all(packed, 100),
    range(50).flatMap((n) => [`${n} room`, `${n} own`]),
  );
  assert.equal((await all(plain, 50)).length, 50);
  for (const n of range(50)) packed.server.send(`${n} application`);
  rooms.publish('x', 'after');
  const received = await all(packed, 51);
  assert.deepEqual(
    received.filter((text) => text !== 'after'),
    range(50).map((n) => `${n} application`),
  );
});

test('fragments of the application stay together', async (t) => {
  const { packed, rooms } = await setUp(t);
  packed.server.send('frag', { fin: false });
  rooms.publish('x', 'published');
  await turn();
  packed.server.send('ments', { fin: true });
  assert.deepEqual(await all(packed, 2), ['fragments', 'published']);
});

test('messages that wait for compression are bounded like all others', async (t) => {
  const maxPending = 100_000;
  const { packed, plain, rooms } = await setUp(t, { maxPending });
  rooms.leave(plain.server);
  untilRead(packed);
  // Within one turn nothing can be compressed, so everything adds up.
  const highest = range(100).reduce((most) => {
    rooms.publish('x', Buffer.alloc(10_000));
    rooms.flush();
    return Math.max(most, packed.server.bufferedAmount);
  }, 0);
  assert.ok(highest <= maxPending + 10_010, `${highest} bytes`);
  assert.equal(rooms.stats().slowClosed, 1);
  assert.equal(await packed.closed, 1013);
});

test('a socket whose compression fails is ended and harms nobody else', async (t) => {
  // An option that zlib refuses: what happens too when it cannot get memory.
  const hall = await openHall(t, {
    perMessageDeflate: { threshold: 0, zlibDeflateOptions: { level: 99 } },
  });
  const packed = await hall.connect();
  const plain = await hall.connect({ perMessageDeflate: false });
  const errors = [];
  packed.server.on('error', (error) => errors.push(error.code));
  const rooms = new Rooms();
  for (const { server } of [packed, plain]) rooms.join(server, 'x');
  rooms.publish('x', '1');
  rooms.publish('x', '2');
  assert.deepEqual(await all(plain, 2), ['1', '2']);
  await packed.closed;
  assert.deepEqual(errors, ['ERR_OUT_OF_RANGE']);
  rooms.publish('x', '3');
  assert.deepEqual(await all(plain, 1), ['3']);
});

test('a backlog goes on although nothing more is published', async (t) => {
  const { packed, plain, rooms } = await setUp(t);
  rooms.leave(plain.server);
  const messages = range(8).map((n) => `${n} `.padEnd(30_000, '.'));
  rooms.publish('x', messages[0]);
  await turn();
  for (const message of messages.slice(1)) rooms.publish('x', message);
  assert.deepEqual(await all(packed, 8), messages);
});

test('a client that reads is not slow because compression is', async (t) => {
  const maxPending = 100_000;
  const { packed, plain, rooms } = await setUp(t, { maxPending, onSlow: assert.fail });
  rooms.leave(plain.server);
  // Within one turn nothing can be compressed, so everything adds up to more than the bound.
  const messages = range(15).map((n) => `${n} `.padEnd(10_000, '.'));
  for (const message of messages) {
    rooms.publish('x', message);
    rooms.flush();
  }
  assert.deepEqual(await all(packed, 15), messages);
  rooms.publish('x', 'after');
  assert.deepEqual(await all(packed, 1), ['after']);
});

test('a message above the bound is compressed like any other', async (t) => {
  const { packed, plain, rooms } = await setUp(t, { maxPending: 100_000, onSlow: assert.fail });
  rooms.leave(plain.server);
  const message = 'large '.repeat(100_000);
  const before = packed.socket.bytesWritten;
  rooms.publish('x', message);
  assert.deepEqual(await all(packed, 1), [message]);
  const written = packed.socket.bytesWritten - before;
  assert.ok(written < message.length / 2, `${written} bytes`);
});

test('clients that read get everything, in order, as fast as it is published', async (t) => {
  const hall = await openHall(t, { perMessageDeflate: true });
  // More than ws compresses for at a time.
  const peers = await hall.connectMany(12);
  const rooms = new Rooms({ onSlow: assert.fail });
  t.after(() => rooms.close());
  for (const { server } of peers) rooms.join(server, 'x');
  const random = randomFrom(30);
  const noise = range(15_000)
    .map(() => Math.floor(random() * 256))
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  const messages = range(300).map((n) => `${n} ${n % 9 === 8 ? noise : 'short'}`);
  for (const n of range(100)) {
    for (const message of messages.slice(3 * n, 3 * n + 3)) rooms.publish('x', message);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const peer of peers) assert.deepEqual(await all(peer, messages.length), messages);
  assert.equal(rooms.stats().slowClosed, 0);
});
