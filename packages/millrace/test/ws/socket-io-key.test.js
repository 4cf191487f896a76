// Broadcasts with a key, through the option `key` of the adapter.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { millraceAdapter } from 'millrace/ws';
import { longMs, open, range } from './socket-io.js';

/** `move` events have their first argument as a key. */
const adapter = () => millraceAdapter({ key: (event, id) => (event === 'move' ? id : undefined) });

const house = (t, transport = 'websocket', options = {}) =>
  open(t, { adapter: adapter(), transport, ...options });

const moves = (received) => received.map(([event, ...args]) => `${event} ${args.join(' ')}`);

describe('a broadcast with a key', () => {
  test('takes the place of the one that is queued for a client', async (t) => {
    const one = await house(t);
    const [a, b] = await one.connectAll(['a', 'b']);
    const { io } = one;
    a.server.join('x');
    io.emit('move', 1, 'first');
    io.emit('plain');
    io.emit('move', '1', 'a string');
    io.to('x').emit('move', 1, 'in x');
    a.server.emit('own');
    io.emit('move', 1, 'second');
    b.server.broadcast.emit('move', 1, 'not for b');
    io.to('x').emit('move', 1, 'in x again');
    io.emit('move', 1, 'third', Buffer.from('attached').toString());
    assert.deepEqual(moves(await a.take()), [
      'move 1 third attached',
      'plain ',
      'move 1 a string',
      'move 1 in x again',
      'own ',
    ]);
    assert.deepEqual(moves(await b.take()), ['move 1 third attached', 'plain ', 'move 1 a string']);
  });

  test('may have attachments, and be one for all clients again', async (t) => {
    const one = await house(t);
    const guests = await one.connectAll(['a', 'b', 'c']);
    for (const n of range(5)) one.io.emit('move', 'k', Buffer.from([n]));
    for (const guest of guests) {
      assert.deepEqual(await guest.take(), [['move', 'k', Buffer.from([4])]]);
    }
    one.io.emit('move', 'k', 'in the next turn');
    for (const guest of guests) {
      assert.deepEqual(await guest.take(), [['move', 'k', 'in the next turn']]);
    }
  });

  test('supersedes even where a volatile one would be dropped', async (t) => {
    const one = await house(t);
    const guest = await one.connect();
    one.io.volatile.emit('move', 1, 'older');
    one.io.volatile.emit('plain');
    one.io.volatile.emit('move', 1, 'newer');
    assert.deepEqual(moves(await guest.take()), ['move 1 newer']);
  });

  test('is superseded in the queue of a slow client', async (t) => {
    const one = await house(t);
    const [slow, fast] = await one.connectAll(['slow', 'fast']);
    const { conn } = slow.server;
    // As after a write that the kernel has not taken.
    const { transport } = conn;
    await fast.fence();
    transport.writable = false;
    for (const n of range(100)) {
      for (const key of range(10)) one.io.emit('move', key, n);
      await fast.until((received) => received.at(-1)?.[2] === n);
    }
    one.io.emit('last');
    await fast.until((received) => received.at(-1)?.[0] === 'last');
    assert.equal(conn.writeBuffer.length, 1);
    transport.writable = true;
    conn.flush();
    await slow.until((received) => received.at(-1)?.[0] === 'last');
    assert.deepEqual(moves(slow.received), [...range(10).map((key) => `move ${key} 99`), 'last ']);
  });

  test('reaches clients that poll as it always does', async (t) => {
    const one = await house(t, 'polling');
    const guest = await one.connect();
    for (const n of range(3)) one.io.emit('move', 1, n);
    assert.deepEqual(moves(await guest.take()), ['move 1 0', 'move 1 1', 'move 1 2']);
  });

  test('with a request for acknowledgements supersedes none', async (t) => {
    const one = await house(t);
    await one.connect({ name: 'a' });
    const answers = range(3).map((n) => one.io.timeout(longMs).emitWithAck('move', 1, n));
    assert.deepEqual(await Promise.all(answers), [['a'], ['a'], ['a']]);
  });

  test('is apart from those of other namespaces', async (t) => {
    const one = await house(t);
    one.io.of('/b');
    const a = await one.connect();
    const b = await one.connect({ namespace: '/b' });
    one.io.emit('move', 1, 'a');
    one.io.of('/b').emit('move', 1, 'b');
    assert.deepEqual(moves(await a.take()), ['move 1 a']);
    assert.deepEqual(moves(await b.take()), ['move 1 b']);
  });
});

describe('the option key', () => {
  test('must be a function', () => {
    assert.throws(() => millraceAdapter({ key: 'id' }), { code: 'MILLRACE_E_INVALID_OPTION' });
  });

  test('must return a string, a number or undefined', async (t) => {
    const one = await house(t);
    await one.connect();
    for (const key of [null, {}, true, 1n]) {
      assert.throws(() => one.io.emit('move', key), {
        code: 'MILLRACE_E_INVALID_ARGUMENT',
        message: /the option 'key' of the adapter returned/,
      });
    }
  });
});
