/** Broadcasts with a key: of a turn only the latest leaves for other servers, and it supersedes there as here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { natsAdapter } from '@millrace/nats/socket-io';
import { range } from '../../../millrace/test/ws/socket-io.js';
import { decodeBatch } from '../../dist/wire.js';
import { natsServer, unable } from '../nats.js';
import { rawTo } from '../raw.js';
import { openFleet } from './nodes.js';

const skip = unable;
const key = (event, id) => (event === 'move' ? id : undefined);
const texts = (received) => received.map((message) => message.join(' '));
const has = (guest, event) => guest.until((received) => received.at(-1)?.[0] === event);

/** A fleet of two, and what its servers send each other: the heads of broadcasts. */
async function setUp(t, options) {
  const broker = await natsServer(t, options);
  const fleet = await openFleet(t, broker, { count: 2, key, ...options });
  const raw = await rawTo(t, broker);
  const heads = [];
  raw.subscribe('>', {
    callback: (_, { data }) => {
      for (const { data: bytes } of decodeBatch(data)?.records ?? []) {
        const text = Buffer.from(bytes).toString();
        if (text.includes('"kind":"broadcast"')) heads.push(text);
      }
    },
  });
  await raw.flush();
  return { ...fleet, heads };
}

test('of a turn, the latest broadcast of each key leaves, in the place of the first', {
  skip,
}, async (t) => {
  const { ios, guests, heads } = await setUp(t);
  const [io] = ios;
  for (const n of range(5)) {
    io.emit('move', 1, n);
    if (n === 0) io.emit('plain');
    io.emit('move', '1', n);
  }
  io.emit('end');
  for (const guest of guests) {
    await has(guest, 'end');
    assert.deepEqual(texts(guest.received), ['move 1 4', 'plain', 'move 1 4', 'end']);
  }
  assert.equal(heads.length, 4);
  io.emit('move', 1, 'next');
  io.emit('end again');
  await has(guests[1], 'end again');
  assert.deepEqual(texts(guests[1].received.slice(4)), ['move 1 next', 'end again']);
});

test('a broadcast does not overtake what changes who gets it', { skip }, async (t) => {
  const { ios, guests } = await setUp(t);
  const [io] = ios;
  const [a, b] = guests;
  // To two rooms: a room alone is heard only some time after its first member has come.
  const rooms = ['x', 'y'];
  io.in(a.server.id).socketsJoin('x');
  io.to(rooms).emit('move', 1, 'before');
  io.in(b.server.id).socketsJoin('x');
  io.to(rooms).emit('move', 1, 'after');
  io.except('x').emit('move', 1, 'others');
  io.emit('end');
  for (const guest of guests) await has(guest, 'end');
  assert.deepEqual(texts(a.received), ['move 1 after', 'end']);
  assert.deepEqual(texts(b.received), ['move 1 after', 'end']);
});

test('a client whose queue waits gets the latest, whichever server it is of', {
  skip,
}, async (t) => {
  const { ios, guests, nodes } = await setUp(t);
  const [a, b] = guests;
  const c = await nodes[1].connect({ name: 'c' });
  const { conn } = b.server;
  const { transport } = conn;
  await c.fence();
  transport.writable = false;
  for (const n of range(20)) {
    ios[n % 2].emit('move', 'k', n);
    for (const other of [a, c]) await other.until((received) => received.at(-1)?.[2] === n);
  }
  ios[0].emit('end');
  await has(c, 'end');
  transport.writable = true;
  conn.flush();
  await has(b, 'end');
  assert.deepEqual(texts(b.received), ['move k 19', 'end']);
});

test('a durable broadcast is stored, whether or not a newer one follows', { skip }, async (t) => {
  const { ios, guests, nodes } = await setUp(t, { jetstream: true, durable: true });
  for (const n of range(3)) ios[0].emit('move', 1, n);
  ios[0].emit('end');
  await nodes[0].adapter.acknowledged();
  for (const guest of guests) await has(guest, 'end');
  assert.deepEqual(texts(guests[0].received), ['move 1 2', 'end']);
  assert.equal(guests[1].received.at(-2)[2], 2);
});

test('the option key is a function that returns a string, a finite number or undefined', {
  skip,
}, async (t) => {
  assert.throws(() => natsAdapter({ broker: 'nats://127.0.0.1:1', key: 5 }), {
    code: 'MILLRACE_E_INVALID_OPTION',
  });
  const { ios, heads } = await setUp(t);
  for (const bad of [null, {}, Number.NaN, true]) {
    assert.throws(() => ios[0].emit('move', bad), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /the option 'key' of natsAdapter\(\) returned/,
    });
  }
  assert.deepEqual(heads, []);
});
