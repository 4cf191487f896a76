import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { Rooms } from 'millrace/ws';
import { openHall, randomFrom, range } from './hall.js';

const random = randomFrom(7);
const bytes = (n) => Buffer.from(range(n).map(() => random() * 256));

/** One socket in a room. */
async function setUp(t) {
  const hall = await openHall(t);
  const peer = await hall.connect();
  const rooms = new Rooms({ maxPending: 64 * 1024 * 1024 });
  rooms.join(peer.server, 'x');
  return { peer, rooms };
}

test('payloads at each boundary of the frame header arrive as they were', async (t) => {
  const { peer, rooms } = await setUp(t);
  for (const size of [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 1024 * 1024]) {
    const payload = bytes(size);
    const text = payload.toString('latin1').replace(/[^a-z]/g, '~');
    rooms.publish('x', payload);
    rooms.publish('x', text);
    rooms.send(peer.server, payload);
    rooms.send(peer.server, text);
    await peer.until((received) => received.length === 4);
    assert.deepEqual(peer.received.splice(0), [payload, text, payload, text], `${size} bytes`);
  }
});

test('strings arrive as text in UTF-8', async (t) => {
  const { peer, rooms } = await setUp(t);
  const texts = [
    '',
    'é',
    '€',
    '🦊🦊',
    '\u0000',
    '\ufeffmark',
    'x'.repeat(124) + 'ß',
    '界'.repeat(30_000),
  ];
  for (const text of texts) rooms.publish('x', text);
  assert.deepEqual(await peer.take(), texts);
});

test('half of a surrogate pair becomes the replacement character, as with ws', async (t) => {
  const { peer, rooms } = await setUp(t);
  rooms.publish('x', 'a\ud83eb');
  assert.deepEqual(await peer.take(), ['a\ufffdb']);
});

test('buffers, typed arrays, views and array buffers arrive as binary', async (t) => {
  const { peer, rooms } = await setUp(t);
  const words = new Uint16Array([1, 2, 0xffff]);
  const memory = bytes(64);
  const inside = memory.buffer.slice(memory.byteOffset, memory.byteOffset + 64);
  const cases = [
    [Buffer.from('abc'), Buffer.from('abc')],
    [words, Buffer.from(words.buffer)],
    [new Uint8Array(inside, 10, 20), memory.subarray(10, 30)],
    [new DataView(inside, 3, 5), memory.subarray(3, 8)],
    [new Float64Array(inside, 8, 2), memory.subarray(8, 24)],
    [inside, memory],
    [new ArrayBuffer(0), Buffer.alloc(0)],
    [runInNewContext('new Uint8Array([7, 8]).buffer'), Buffer.from([7, 8])],
  ];
  for (const [data] of cases) rooms.publish('x', data);
  assert.deepEqual(
    await peer.take(),
    cases.map(([, expected]) => expected),
  );
});

test('binary says the kind of message, whatever the data is', async (t) => {
  const { peer, rooms } = await setUp(t);
  rooms.publish('x', Buffer.from('as text'), { binary: false });
  rooms.publish('x', 'as binary', { binary: true });
  rooms.send(peer.server, new Uint8Array([104, 105]), { binary: false });
  rooms.publish('x', Buffer.alloc(0), { binary: false });
  rooms.publish('x', '', { binary: true });
  const expected = ['as text', Buffer.from('as binary'), 'hi', '', Buffer.alloc(0)];
  assert.deepEqual(await peer.take(), expected);
});

test('a buffer can be used again as soon as publish has returned', async (t) => {
  const { peer, rooms } = await setUp(t);
  for (const size of [3, 300, 100_000]) {
    const data = Buffer.alloc(size, 1);
    const view = new Uint16Array(size).fill(1);
    rooms.publish('x', data);
    rooms.send(peer.server, data);
    rooms.publish('x', view);
    rooms.publish('x', view.buffer);
    data.fill(2);
    view.fill(2);
    await peer.until((received) => received.length === 4);
    const words = Buffer.from(new Uint16Array(size).fill(1).buffer);
    const sent = Buffer.alloc(size, 1);
    assert.deepEqual(peer.received.splice(0), [sent, sent, words, words]);
  }
});
