import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, range, stall, turn } from './hall.js';

/** Sockets in room `x`. */
async function setUp(t, count, options) {
  const hall = await openHall(t);
  const peers = await hall.connectMany(count);
  const rooms = new Rooms(options);
  for (const { server } of peers) rooms.join(server, 'x');
  return { peers, rooms };
}

test('a socket that closes between publish and the end of the turn gets nothing more', async (t) => {
  const { peers, rooms } = await setUp(t, 6);
  const [closing, terminated, destroyed, ended, own, other] = peers;
  rooms.publish('x', '1');
  closing.server.close(1000);
  terminated.server.terminate();
  destroyed.socket.destroy();
  ended.socket.end();
  rooms.send(own.server, '2');
  own.server.terminate();
  assert.deepEqual(await other.take(), ['1']);
  assert.equal(await closing.closed, 1000);
  await Promise.all([terminated.closed, destroyed.closed, ended.closed, own.closed]);
  assert.deepEqual(
    [closing, terminated, destroyed, ended, own].map(({ received }) => received),
    [[], [], [], [], []],
  );
  assert.equal(rooms.stats().sends, 1);
  await turn();
  assert.equal(rooms.size('x'), 1);
});

test('a peer that resets in the middle of a stream harms nobody', async (t) => {
  const { peers, rooms } = await setUp(t, 4, { maxPending: 2 ** 30 });
  const [destroyed, reset, ...others] = peers;
  for (const n of range(200)) {
    rooms.publish('x', `${n} ${'.'.repeat(5000)}`);
    if (n === 50) destroyed.client._socket.destroy();
    if (n === 100) reset.client._socket.resetAndDestroy();
    await turn();
  }
  for (const peer of others) {
    await peer.until((received) => received.length === 200);
    assert.ok(peer.received.every((text, n) => text.startsWith(`${n} `)));
  }
  const left = peers.slice(0, 2).filter(({ server }) => server.readyState !== 3);
  await Promise.all(left.map(({ server }) => once(server, 'close')));
  assert.equal(rooms.size('x'), 2);
  assert.equal(rooms.stats().members, 2);
});

test('a write that throws ends its socket alone', async (t) => {
  const { peers, rooms } = await setUp(t, 3);
  const [first, broken, last] = peers;
  const failure = new Error('cannot write');
  const errors = [];
  broken.server.on('error', (error) => errors.push(error));
  broken.socket.write = () => {
    throw failure;
  };
  rooms.publish('x', '1');
  for (const peer of [first, last]) assert.deepEqual(await peer.take(), ['1']);
  await broken.closed;
  assert.deepEqual(errors, [failure]);
  rooms.publish('x', '2');
  for (const peer of [first, last]) assert.deepEqual(await peer.take(), ['2']);
});

for (const policy of ['direct', 'adaptive']) {
  test(`${policy}: what onSlow does to the rooms comes after the message that it is about`, async (t) => {
    const hall = await openHall(t);
    const peers = await hall.connectMany(4);
    const [before, slow, victim, after] = peers;
    await stall(slow);
    const told = new Promise((resolve) => {
      const onSlow = (info) => {
        rooms.publish('x', 'from onSlow');
        rooms.leave(before.server, 'x');
        victim.server.terminate();
        info.socket.terminate();
        rooms.flush();
        rooms.publish('x', 'last');
        resolve(info);
      };
      const rooms = new Rooms({ policy, maxPending: 1, onSlow });
      for (const { server } of peers) rooms.join(server, 'x');
      rooms.publish('x', 'first');
    });
    assert.equal((await told).socket, slow.server);
    assert.deepEqual(await before.take(), ['first', 'from onSlow']);
    assert.deepEqual(await after.take(), ['first', 'from onSlow', 'last']);
    slow.client.resume();
    await Promise.all([slow.closed, victim.closed]);
  });

  test(`${policy}: close inside onSlow loses nothing`, async (t) => {
    const hall = await openHall(t);
    const peers = await hall.connectMany(3);
    const [slow, keeps, other] = peers;
    await stall(slow);
    await new Promise((resolve) => {
      const rooms = new Rooms({
        policy,
        maxPending: 1,
        onSlow() {
          rooms.close();
          resolve();
        },
      });
      for (const { server } of peers) rooms.join(server, 'x');
      rooms.publish('x', '1');
      rooms.publish('x', '2');
    });
    assert.deepEqual(await keeps.take(), ['1', '2']);
    assert.deepEqual(await other.take(), ['1', '2']);
  });
}

test('an error thrown by onSlow is an uncaught exception, and the rooms go on', async (t) => {
  const hall = await openHall(t);
  const [slow, other] = await hall.connectMany(2);
  await stall(slow);
  const failure = new Error('thrown by onSlow');
  const rooms = new Rooms({
    maxPending: 1,
    onSlow() {
      throw failure;
    },
  });
  for (const { server } of [slow, other]) rooms.join(server, 'x');
  // node:test has a listener of its own for these.
  const usual = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  try {
    rooms.publish('x', '1');
    assert.equal(await uncaught, failure);
  } finally {
    for (const listener of usual) process.on('uncaughtException', listener);
  }
  rooms.publish('x', '2');
  assert.deepEqual(await other.take(), ['1', '2']);
});

test("terminating and publishing in 'close' listeners", async (t) => {
  const { peers, rooms } = await setUp(t, 10);
  const survivor = peers.at(-1);
  peers.slice(0, 9).forEach(({ server }, n) => {
    server.on('close', () => {
      rooms.publish('x', `${n} has gone`);
      // The next one falls.
      if (n + 1 < 9) peers[n + 1].server.terminate();
    });
  });
  rooms.publish('x', 'start');
  peers[0].server.terminate();
  await survivor.until((received) => received.length === 10);
  assert.deepEqual(survivor.received, ['start', ...range(9).map((n) => `${n} has gone`)]);
  assert.equal(rooms.size('x'), 1);
});

test('hundreds of sockets close in the turn of a publish', async (t) => {
  const { peers, rooms } = await setUp(t, 301);
  const survivor = peers.pop();
  const gone = Promise.all(peers.map(({ server }) => once(server, 'close')));
  rooms.publish('x', '1');
  for (const { server } of peers) server.terminate();
  rooms.publish('x', '2');
  assert.deepEqual(await survivor.take(), ['1', '2']);
  await gone;
  assert.equal(rooms.size('x'), 1);
  rooms.publish('x', '3');
  assert.deepEqual(await survivor.take(), ['3']);
});

test('hundreds of sockets leave in the turn of many messages, and each gets its share', async (t) => {
  const { peers, rooms } = await setUp(t, 300);
  for (const n of range(peers.length)) {
    rooms.publish('x', `${n}`);
    rooms.leave(peers[n].server, 'x');
  }
  const received = await Promise.all(peers.map((peer) => peer.take()));
  received.forEach((texts, n) => {
    assert.equal(texts.length, n + 1);
    assert.equal(texts.at(-1), `${n}`);
  });
});

test('a socket that has only what ws documents is served', async (t) => {
  const hall = await openHall(t);
  const real = await hall.connect();
  const socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    extensions: '',
    bufferedAmount: 0,
    _socket: real.socket,
  });
  const rooms = new Rooms();
  rooms.join(socket, 'x');
  rooms.publish('x', '1');
  assert.deepEqual(await real.take(), ['1']);
});
