/**
 * Sockets that are sent to past their streams, where there is an addon: what does not fit, what breaks, and what has to go
 * through the stream. Without an addon the same has to hold for the streams.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createNetServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { install, Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { binding } from '../../dist/native/load.js';
import { Wire } from '../../dist/ws/wire.js';
import { openHall, range, stall, turn } from './hall.js';

const native = new Rooms().stats().backend !== 'js';
/** For what there is only with native sends. */
const nativeTest = native ? test : () => {};

/** The two ways of an application to send natively: the same to all, in the same turn. */
const ways = {
  Rooms: (t, peers) => {
    const rooms = new Rooms({ maxPending: 2 ** 30 });
    t.after(() => rooms.close());
    for (const { server } of peers) rooms.join(server, 'x');
    return (data) => rooms.publish('x', data);
  },
  install: (t, peers) => {
    const installation = install(WebSocket, { maxPendingBytes: 2 ** 30 });
    t.after(() => installation.uninstall());
    return (data) => {
      for (const { server } of peers) if (server.readyState === 1) server.send(data);
    };
  },
};

/** Notes the targets of each native send, and lets a test change its results: for faults that cannot be had otherwise. */
function watchSends(t, change = () => {}) {
  const seen = { calls: 0, sent: 0, partial: 0, refused: 0 };
  const { fanoutSend } = binding;
  binding.fanoutSend = (bytes, groups, count, fds, results) => {
    const complete = fanoutSend(bytes, groups, count, fds, results);
    seen.calls++;
    for (let group = 0; group < count; group++) {
      const [, length, first, targets] = groups.subarray(group * 4);
      for (let i = first; i < first + targets; i++) {
        change(results, i);
        if (results[i] === length) seen.sent++;
        else if (results[i] > 0) seen.partial++;
        else seen.refused++;
      }
    }
    return complete;
  };
  t.after(() => {
    binding.fanoutSend = fanoutSend;
  });
  return seen;
}

for (const [way, sender] of Object.entries(ways)) {
  nativeTest(
    `${way}: one native call sends to all sockets of a turn, whatever each of them gets`,
    async (t) => {
      const hall = await openHall(t);
      const peers = await hall.connectMany(20);
      const send = sender(t, peers);
      const seen = watchSends(t);
      const rooms = new Rooms();
      send('for all');
      await turn();
      assert.deepEqual(seen, { calls: 1, sent: 20, partial: 0, refused: 0 });
      for (const [n, { server }] of peers.entries()) {
        if (way === 'Rooms') rooms.send(server, `for ${n}`);
        else server.send(`for ${n}`);
      }
      await turn();
      assert.deepEqual(seen, { calls: 2, sent: 40, partial: 0, refused: 0 });
      for (const [n, peer] of peers.entries()) {
        assert.deepEqual(await peer.take(), ['for all', `for ${n}`]);
      }
    },
  );

  test(`${way}: what the kernel takes in part or not at all arrives whole and in order`, async (t) => {
    const hall = await openHall(t);
    const peers = await hall.connectMany(4);
    const send = sender(t, peers);
    const seen = native ? watchSends(t) : null;
    const expected = createHash('sha256');
    const hashes = peers.map(() => createHash('sha256'));
    peers.forEach(({ client }, n) => {
      client.on('message', (data) => hashes[n].update(data));
    });
    const stopping = peers.slice(2);
    let count = 0;
    const sendSome = async () => {
      const data = randomBytes(count % 3 === 0 ? 150_000 : 7000 + count).toString('base64');
      expected.update(data);
      count++;
      send(data);
      await turn();
    };
    for (const _ of range(5)) {
      for (const { client } of stopping) client.pause();
      // Until no buffer of the kernel holds it.
      while (stopping.some(({ socket }) => socket.writableLength === 0)) await sendSome();
      await sendSome();
      for (const { client } of stopping) client.resume();
      await Promise.all(peers.map((peer) => peer.until((received) => received.length === count)));
    }
    const digest = expected.digest('hex');
    for (const hash of hashes) assert.equal(hash.digest('hex'), digest);
    if (native) assert.ok(seen.partial + seen.refused > 0, 'nothing was ever left');
  });

  nativeTest(`${way}: a result of EAGAIN sends everything through the stream`, async (t) => {
    const hall = await openHall(t);
    const peers = await hall.connectMany(3);
    const send = sender(t, peers);
    const { fanoutSend } = binding;
    t.after(() => {
      binding.fanoutSend = fanoutSend;
    });
    binding.fanoutSend = (_bytes, _groups, _count, _fds, results) => {
      // Injected: the kernel takes nothing.
      results.fill(-11);
      return 0;
    };
    for (const n of range(10)) {
      send(`${n}`);
      await turn();
    }
    binding.fanoutSend = () => {
      throw new Error('injected: out of memory');
    };
    send('10');
    await turn();
    binding.fanoutSend = fanoutSend;
    send('11');
    for (const peer of peers) assert.deepEqual(await peer.take(), range(12).map(String));
  });

  nativeTest(
    `${way}: when nobody knows what a socket got, it is destroyed, and no other`,
    async (t) => {
      const hall = await openHall(t);
      const peers = await hall.connectMany(3);
      const send = sender(t, peers);
      let last = -1;
      watchSends(t, (results, i) => {
        // Injected: the ring has failed under way. Sockets are sent to in their order.
        if (last-- === 0) results[i] = -5;
      });
      const errors = [];
      peers[1].socket.on('error', ({ code }) => errors.push(code));
      last = 1;
      send('1');
      await turn();
      assert.equal(await peers[1].closed, 1006);
      assert.deepEqual(errors, ['EIO']);
      send('2');
      for (const peer of [peers[0], peers[2]]) assert.deepEqual(await peer.take(), ['1', '2']);
    },
  );

  test(`${way}: bytesWritten counts all, also when the socket is gone`, async (t) => {
    const hall = await openHall(t);
    const [peer, stalled] = await hall.connectMany(2);
    const send = sender(t, [peer, stalled]);
    await stall(stalled);
    const before = [peer, stalled].map(({ socket }) => socket.bytesWritten);
    for (const _ of range(5)) {
      send('x'.repeat(98));
      await turn();
    }
    assert.equal(peer.socket.bytesWritten - before[0], 500);
    // What rooms keep back for a slow socket is not written yet.
    assert.equal(stalled.socket.bytesWritten - before[1], way === 'Rooms' ? 0 : 500);
    peer.socket.destroy();
    await peer.closed;
    assert.equal(peer.socket.bytesWritten - before[0], 500);
  });

  test(`${way}: a send counts as activity for the timeout of the socket`, async (t) => {
    const hall = await openHall(t);
    const [peer] = await hall.connectMany(1);
    const send = sender(t, [peer]);
    send('1');
    await turn();
    let refreshed = 0;
    const { _unrefTimer } = peer.socket;
    peer.socket._unrefTimer = function () {
      refreshed++;
      return _unrefTimer.call(this);
    };
    peer.socket.setTimeout(60_000);
    send('2');
    await turn();
    assert.equal(refreshed, 1);
    assert.deepEqual(await peer.take(), ['1', '2']);
  });

  test(`${way}: sockets that somebody else writes for are written to through him`, async (t) => {
    const hall = await openHall(t);
    const peers = await hall.connectMany(4);
    const [replaced, coalesced, corked, plain] = peers;
    const writes = replaced.writes();
    const coalescer = coalesce(coalesced.socket);
    const send = sender(t, peers);
    send('1');
    await turn();
    corked.socket.cork();
    send('2');
    await turn();
    assert.equal(corked.socket.writableLength > 0, true);
    const later = plain.writes();
    send('3');
    await turn();
    assert.equal(Buffer.concat(later.filter(Buffer.isBuffer)).toString('latin1'), '\x81\x013');
    assert.match(
      Buffer.concat(writes.map((chunk) => Buffer.from(chunk))).toString(),
      /1[\s\S]*2[\s\S]*3/,
    );
    assert.ok(coalescer.stats().writes >= 3);
    corked.socket.uncork();
    for (const peer of peers) assert.deepEqual(await peer.take(), ['1', '2', '3']);
  });

  test(`${way}: a descriptor that is used anew within the turn gets nothing`, async (t) => {
    const hall = await openHall(t);
    const [gone, other] = await hall.connectMany(2);
    const strangers = createNetServer().listen(0, '127.0.0.1');
    t.after(() => strangers.close());
    await once(strangers, 'listening');
    const send = sender(t, [gone, other]);
    // Its descriptor is known from here on.
    send('1');
    for (const peer of [gone, other]) assert.deepEqual(await peer.take(), ['1']);
    const { fd } = gone.socket._handle;
    send('secret');
    const accepted = once(strangers, 'connection');
    gone.socket.destroy();
    // Made in this turn: with the lowest descriptor that is free.
    const stranger = connect(strangers.address().port, '127.0.0.1');
    t.after(() => stranger.destroy());
    const reused = new Promise((resolve) => {
      process.nextTick(() => process.nextTick(() => resolve(stranger._handle.fd)));
    });
    await turn();
    if (process.platform !== 'win32')
      assert.equal(await reused, fd, 'the descriptor is not used anew');
    const [peer] = await accepted;
    const received = [];
    peer.on('data', (data) => received.push(data));
    stranger.end('end');
    await once(peer, 'end');
    peer.destroy();
    assert.equal(Buffer.concat(received).toString(), 'end');
    assert.deepEqual(await other.take(), ['secret']);
  });

  test(`${way}: sockets of a Unix domain gain as well`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const server = createServer().listen(join(folder, 's'));
    const wss = new WebSocketServer({ server });
    const accepted = once(wss, 'connection');
    const client = new WebSocket(`ws+unix://${join(folder, 's')}:/`);
    t.after(() => {
      client.terminate();
      server.close();
    });
    const [ws] = await accepted;
    if (client.readyState !== WebSocket.OPEN) await once(client, 'open');
    const seen = native ? watchSends(t) : null;
    const send = sender(t, [{ server: ws }]);
    const texts = [];
    const done = new Promise((resolve) => {
      client.on('message', (data) => {
        if (texts.push(data.toString()) === 3) resolve();
      });
    });
    for (const n of range(3)) {
      send(`${n}`);
      await turn();
    }
    await done;
    assert.deepEqual(texts, ['0', '1', '2']);
    if (native) assert.equal(seen.sent, 3);
  });
}

test('rooms and the application send to the same socket: each in its order', async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(3);
  const installation = install(WebSocket);
  t.after(() => installation.uninstall());
  const rooms = new Rooms();
  for (const { server } of peers) rooms.join(server, 'x');
  for (const n of range(50)) {
    for (const { server } of peers) server.send(`own ${n}`);
    rooms.publish('x', `room ${n}`);
    if (n % 3 === 0) await turn();
  }
  for (const peer of peers) {
    const received = await peer.take();
    for (const kind of ['own', 'room']) {
      assert.deepEqual(
        received.filter((text) => text.startsWith(kind)),
        range(50).map((n) => `${kind} ${n}`),
      );
    }
  }
});

test('while anything waits in the stream, nothing passes it', async (t) => {
  const hall = await openHall(t);
  const [peer] = await hall.connectMany(1);
  const wire = Wire.of(peer.socket);
  if (process.platform !== 'win32') assert.equal(wire.fdFor(null), peer.socket._handle.fd);
  peer.client.pause();
  // Less than what would make the stream ask for a pause.
  while (peer.socket.writableLength === 0) {
    peer.server.send(Buffer.alloc(8000));
    await turn();
  }
  assert.equal(peer.socket.writableNeedDrain, false);
  assert.equal(wire.fdFor(null), -1);
});

test('a socket that is connected anew has another descriptor', async (t) => {
  const server = createNetServer((peer) => peer.resume().end()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const wire = Wire.of(socket);
  const first = wire.fdFor(null);
  socket.resume().end();
  await once(socket, 'close');
  assert.equal(wire.fdFor(null), -1);
  // Takes the number of the one that was closed.
  const other = connect(port, '127.0.0.1');
  await once(other, 'connect');
  socket.connect(port, '127.0.0.1');
  assert.equal(wire.fdFor(null), -1, 'not before it is connected');
  await once(socket, 'connect');
  assert.equal(wire.fdFor(null), process.platform === 'win32' ? -1 : socket._handle.fd);
  if (process.platform !== 'win32') assert.notEqual(wire.fdFor(null), first);
  socket.destroy();
  other.destroy();
});

test('a handle that was closed behind its socket is not sent to: the number may be another one by now', async (t) => {
  const server = createNetServer((peer) => peer.resume()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect(server.address().port, '127.0.0.1');
  await once(socket, 'connect');
  const wire = Wire.of(socket);
  if (process.platform !== 'win32') assert.equal(wire.fdFor(null), socket._handle.fd);
  socket._handle.close();
  assert.equal(socket.writable, true);
  assert.equal(wire.fdFor(null), -1);
  socket.destroy();
});

test('the streams of the process, TLS and pipes are never sent to directly', () => {
  for (const stream of [process.stdout, process.stderr, process.stdin]) {
    if (stream instanceof Socket) assert.equal(Wire.of(stream).fdFor(null), -1);
  }
  const fake = (name, fields = {}) => {
    const Handle = { [name]: class {} }[name];
    const socket = new Socket();
    const handle = Object.assign(new Handle(), { fd: 30, ...fields.handle });
    Object.defineProperty(socket, '_handle', { value: handle });
    Object.defineProperty(socket, 'connecting', { value: false });
    if (fields.encrypted) socket.encrypted = true;
    return Wire.of(socket).fdFor(null);
  };
  assert.equal(fake('TCP'), 30);
  assert.equal(fake('TCP', { encrypted: true }), -1);
  assert.equal(fake('TCP', { handle: { fd: 2 } }), -1);
  assert.equal(fake('TCP', { handle: { fd: undefined } }), -1);
  assert.equal(fake('TLSWrap'), -1);
  assert.equal(fake('JSStream'), -1);
});

nativeTest('a native call checks what it is given', () => {
  const bytes = Buffer.alloc(10);
  const fds = new Int32Array(4);
  const results = new Int32Array(4);
  const bad = [
    [0, 11, 0, 1],
    [8, 3, 0, 1],
    [-1, 1, 0, 1],
    [0, -1, 0, 1],
    [0, 1, 0, 5],
    [0, 1, 4, 1],
    [0, 1, -1, 1],
    [2 ** 31 - 1, 2 ** 31 - 1, 0, 1],
  ];
  for (const group of bad) {
    const call = () => binding.fanoutSend(bytes, Int32Array.from(group), 1, fds, results);
    assert.throws(call, { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  }
  const groups = new Int32Array(4);
  for (const count of [2, -1]) {
    assert.throws(() => binding.fanoutSend(bytes, groups, count, fds, results), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
    });
  }
  assert.throws(() => binding.fanoutSend(bytes, groups), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  assert.throws(() => binding.fanoutSend([], groups, 1, fds, results), TypeError);
  assert.throws(() => binding.fanoutOpen(1), { code: 'EALREADY' });
  assert.equal(binding.fanoutSend(bytes, groups, 0, fds, results), 0);
});
