/** Every way to end a socket: what was written before is out, and the events are those of a plain socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { finished } from 'node:stream';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { arms, openPair, range, systemWrites, turn } from './pair.js';

/** Runs `act` after three writes of one turn, in both arms, and compares everything that can be seen of it. */
function same(name, act, { bytes, later, reset, ...options }) {
  test(name, async (t) => {
    const seen = {};
    for (const [armName, arm] of Object.entries(arms)) {
      const { socket, peer, received } = await openPair(t, options);
      arm(socket);
      const events = [];
      for (const event of ['finish', 'end', 'error', 'close', 'drain']) {
        socket.on(event, (value) => events.push([event, value?.code ?? value?.message ?? value]));
      }
      peer.on('error', () => {});
      const closed = once(socket, 'close').catch(() => {});
      const returned = range(3).map((n) =>
        socket.write(`${n}`, (error) => events.push([`write ${n}`, error?.code ?? null])),
      );
      act(socket);
      const { writable, destroyed, writableEnded, writableLength, writableCorked } = socket;
      // What is held until then shows in the last two.
      const state = later
        ? null
        : { writable, destroyed, writableEnded, writableLength, writableCorked };
      const how = await received.ended;
      peer.end();
      await closed;
      seen[armName] = { events, returned, state };
      // A reset may overtake what has been sent.
      if (!reset) seen[armName] = { ...seen[armName], how, text: received.text() };
    }
    assert.deepEqual(seen.coalesced, seen.plain);
    if (bytes !== undefined) assert.equal(seen.coalesced.text, bytes);
  });
}

same('end()', (socket) => socket.end(), { bytes: '012' });
same('end(chunk)', (socket) => socket.end('last'), { bytes: '012last' });
same('end(chunk, encoding, callback)', (socket) => socket.end('ff', 'hex', () => {}), {
  bytes: '012\u00ff',
});
same(
  'end() twice, and a write after it',
  (socket) => {
    socket.end();
    socket.end();
    socket.write('too late');
  },
  {},
);
same('end() of half an open connection', (socket) => socket.end(), {
  bytes: '012',
  allowHalfOpen: true,
});
same('destroy()', (socket) => socket.destroy(), { bytes: '012' });
same('destroy(error)', (socket) => socket.destroy(new Error('enough')), { bytes: '012' });
same('destroy() twice', (socket) => socket.destroy().destroy(), { bytes: '012' });
same('destroySoon()', (socket) => socket.destroySoon(), { bytes: '012' });
same('write and end in a later tick', (socket) => process.nextTick(() => socket.end('3')), {
  later: true,
  bytes: '0123',
});
same('destroy in a promise job', (socket) => Promise.resolve().then(() => socket.destroy()), {
  later: true,
  bytes: '012',
});
same('resetAndDestroy()', (socket) => socket.resetAndDestroy(), { reset: true });
same(
  'end() under a cork of the application',
  (socket) => {
    socket.cork();
    socket.write('3');
    socket.cork();
    socket.end('4');
  },
  { bytes: '01234' },
);
same(
  'end() after an uncork',
  (socket) => {
    socket.cork();
    socket.write('3');
    socket.uncork();
    socket.end();
  },
  { bytes: '0123' },
);

test('resetAndDestroy hands what is held to the kernel first', async (t) => {
  const { socket } = await openPair(t);
  coalesce(socket);
  const writes = systemWrites(socket);
  for (const n of range(3)) socket.write(`${n}`);
  socket.resetAndDestroy();
  assert.deepEqual(writes, [1, 2]);
  await once(socket, 'close');
});

test('destroy() under a cork loses nothing that was written before the cork', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  socket.cork();
  socket.write('3');
  socket.destroy();
  assert.equal(await received.ended, 'end');
  assert.match(received.text(), /^0123?$/);
});

test('an aborted signal destroys after what is held', async (t) => {
  const { addAbortSignal } = await import('node:stream');
  const { socket, received } = await openPair(t);
  const abort = new AbortController();
  addAbortSignal(abort.signal, socket);
  coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  abort.abort();
  assert.equal(await received.ended, 'end');
  assert.equal(received.text(), '012');
});

test('a bad last chunk throws as ever, and the socket goes on', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  assert.throws(() => socket.end({}), { code: 'ERR_INVALID_ARG_TYPE' });
  for (const n of range(3)) socket.write(`${n + 3}`);
  await received.length(6);
  assert.equal(received.text(), '012345');
});

test('a bad chunk throws as ever', async (t) => {
  const { socket, received } = await openPair(t);
  const coalescer = coalesce(socket);
  for (const [chunk, code] of [
    [null, 'ERR_STREAM_NULL_VALUES'],
    [1, 'ERR_INVALID_ARG_TYPE'],
    [undefined, 'ERR_INVALID_ARG_TYPE'],
    [{}, 'ERR_INVALID_ARG_TYPE'],
  ]) {
    assert.throws(() => socket.write(chunk), { code });
    socket.write('a');
    assert.throws(() => socket.write(chunk), { code });
  }
  assert.throws(() => socket.write('a', 'no such encoding'), { code: 'ERR_UNKNOWN_ENCODING' });
  await received.length(4);
  assert.equal(received.text(), 'aaaa');
  assert.equal(coalescer.stats().coalesced, 4);
  assert.equal(socket.writableCorked, 0);
});

test('a connection that the peer has reset gives one error, and every callback comes once', async (t) => {
  const { socket, peer } = await openPair(t);
  coalesce(socket);
  const over = new Promise((resolve) => finished(socket, resolve));
  peer.resetAndDestroy();
  const errors = [];
  socket.on('error', (error) => errors.push(error.code));
  const called = [];
  let written = 0;
  while (!socket.destroyed) {
    for (const _ of range(3)) {
      const n = written++;
      socket.write(`${n}`, () => called.push(n));
    }
    await turn();
  }
  assert.ok(await over);
  assert.equal(errors.length, 1);
  assert.ok(['ECONNRESET', 'EPIPE'].includes(errors[0]), errors[0]);
  await turn();
  assert.deepEqual(called, range(written));
});

test('the peer may end while something is held', async (t) => {
  const { socket, peer, received } = await openPair(t, { allowHalfOpen: true });
  coalesce(socket);
  socket.resume();
  peer.end();
  await once(socket, 'end');
  for (const n of range(3)) socket.write(`${n}`);
  socket.end();
  assert.equal(await received.ended, 'end');
  assert.equal(received.text(), '012');
});

test('a socket that connects again is still coalesced', async (t) => {
  const { createServer } = await import('node:net');
  const { socket } = await openPair(t);
  const coalescer = coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  socket.destroy();
  await once(socket, 'close');
  const server = createServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  socket.connect(server.address());
  await once(socket, 'connect');
  const writes = systemWrites(socket);
  await turn();
  for (const n of range(3)) socket.write(`${n}`);
  await turn();
  assert.deepEqual(writes, [1, 2]);
  assert.deepEqual(coalescer.stats(), { writes: 6, coalesced: 4, flushes: 2 });
  socket.destroy();
});
