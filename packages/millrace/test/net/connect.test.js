/** Writes before the connection is there. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { arms, collect, range, turn } from './pair.js';

test('data written before connect arrives, and in order with later data', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect(server.address());
  const coalescer = coalesce(socket);
  t.after(() => socket.destroy());
  const called = [];
  for (const n of range(3)) socket.write(`${n}`, () => called.push(n));
  assert.equal(socket.writableCorked, 0);
  socket.on('connect', () => {
    for (const n of range(3)) socket.write(`${n + 3}`, () => called.push(n + 3));
  });
  const [peer] = await accepted;
  server.close();
  const received = collect(peer);
  await received.length(6);
  assert.equal(received.text(), '012345');
  await turn();
  assert.deepEqual(called, range(6));
  assert.equal(coalescer.stats().writes, 6);
});

test('a socket may be coalesced before connect() is called', async (t) => {
  const server = createServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = new Socket();
  const coalescer = coalesce(socket);
  assert.equal(socket.connect(server.address()), socket);
  await once(socket, 'connect');
  await turn();
  for (const n of range(3)) socket.write(`${n}`);
  assert.equal(coalescer.stats().coalesced, 2);
  socket.destroy();
});

test('a socket whose peer has ended is coalesced on its next connection, too', async (t) => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect(server.address()).resume();
  t.after(() => socket.destroy());
  const [peer] = await accepted;
  peer.resume().end();
  await once(socket, 'end');
  // Node.js has given it a write() of its own, which refuses.
  const coalescer = coalesce(socket);
  await once(socket, 'close');
  server.on('connection', (next) => next.resume());
  socket.connect(server.address());
  await once(socket, 'connect');
  await turn();
  for (const n of range(3)) socket.write(`${n}`);
  assert.equal(coalescer.stats().coalesced, 2);
});

test('a socket that is destroyed or ended before connect', async (t) => {
  const server = createServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  for (const end of ['end', 'destroy', 'destroySoon']) {
    const seen = {};
    for (const [name, arm] of Object.entries(arms)) {
      const socket = connect(server.address());
      arm(socket);
      const called = [];
      for (const n of range(3)) socket.write(`${n}`, (error) => called.push([n, error?.code]));
      socket[end]();
      socket.resume();
      await once(socket, 'close');
      await turn();
      seen[name] = { called, bytesWritten: socket.bytesWritten };
    }
    assert.deepEqual(seen.coalesced, seen.plain, end);
  }
});

for (const [title, open] of [
  [
    'a refused connection',
    // No other program is given this port.
    () => connect(1, '127.0.0.1'),
  ],
  ['a socket that never connects', () => new Socket()],
]) {
  test(`${title} gives the same errors`, async () => {
    const seen = {};
    for (const [name, arm] of Object.entries(arms)) {
      const socket = open();
      arm(socket);
      const events = [];
      socket.on('error', (error) => events.push(error.code));
      for (const n of range(3)) socket.write(`${n}`, (error) => events.push(`${n} ${error.code}`));
      await new Promise((resolve) => socket.once('close', resolve));
      await turn();
      seen[name] = events.sort();
    }
    assert.deepEqual(seen.coalesced, seen.plain);
    assert.ok(seen.plain.length >= 4);
  });
}
