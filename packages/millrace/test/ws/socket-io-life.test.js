import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { io as connect } from 'socket.io-client';
import { adapters, inOneTurn, longMs, open, range, same, turn } from './socket-io.js';

const names = (messages) => messages.map(([event]) => event);

/** Ways in which the server ends a connection in the tick of a broadcast, and the reason that the client sees. */
const ends = {
  'socket.disconnect()': [(a) => a.disconnect(), 'io server disconnect'],
  'socket.disconnect(true)': [(a) => a.disconnect(true), 'io server disconnect'],
  'socket.conn.close()': [(a) => a.conn.close(), 'transport close'],
  'io.disconnectSockets()': [(_, io) => io.disconnectSockets(), 'io server disconnect'],
  'io.disconnectSockets(true)': [(_, io) => io.disconnectSockets(true), 'io server disconnect'],
};

for (const [name, [end, reason]] of Object.entries(ends)) {
  for (const where of ['in one tick', 'in a later tick of the turn']) {
    same(`end: broadcasts before ${name}, ${where}`, {
      // Polling loses what its client does not wait for.
      only: ['websocket'],
      expected: { received: ['1', '2', 'direct', '3'], reason, connected: false },
      async play(house) {
        const { io } = house;
        const a = await house.connect();
        await turn();
        const closed = once(a.client, 'disconnect');
        const emit = () => {
          io.emit('1');
          io.emit('2');
          a.server.emit('direct');
          io.emit('3');
        };
        const stop = () => {
          end(a.server, io);
          io.emit('too late');
        };
        if (where === 'in one tick') {
          emit();
          stop();
        } else {
          await inOneTurn([emit, () => {}, stop]);
        }
        const [seen] = await closed;
        return { received: names(a.received), reason: seen, connected: a.server.connected };
      },
    });
  }
}

same('end: who disconnects himself hears nothing more, and others do', {
  expected: {
    reason: 'client namespace disconnect',
    a: [],
    b: ['leaves', 'has left', 'm'],
  },
  async play(house) {
    const { io } = house;
    const [a, b] = await house.connectAll(['a', 'b']);
    const gone = once(a.server, 'disconnect');
    a.server.on('disconnecting', () => io.emit('leaves'));
    a.server.on('disconnect', () => io.emit('has left'));
    a.client.disconnect();
    const [reason] = await gone;
    io.emit('m');
    return { reason, a: names(a.received), b: names(await b.take()) };
  },
});

for (const [adapterName, adapter] of Object.entries(adapters)) {
  test(`end: peers that reset while broadcasts run harm nobody (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter() });
    const guests = await house.connectAll(['a', 'b', 'c', 'd', 'e']);
    const [a, b, c, ...others] = guests;
    const gone = Promise.all([a, b, c].map(({ server }) => once(server, 'disconnect')));
    for (const n of range(200)) {
      house.io.emit('m', n, 'x'.repeat(2000));
      if (n === 50) a.client.io.engine.transport.ws._socket.resetAndDestroy();
      if (n === 100) b.socket.destroy();
      if (n === 150) c.server.conn.transport.socket.terminate();
      if (n % 5 === 0) await turn();
    }
    await gone;
    for (const guest of others) {
      const received = await guest.take();
      assert.deepEqual(
        received.map(([, n]) => n),
        range(200),
      );
    }
    assert.equal(house.io.engine.clientsCount, 2);
    assert.equal(house.io.of('/').sockets.size, 2);
  });

  test(`a client that does not read delays nobody and loses nothing (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter() });
    const { io } = house;
    const [slow, other] = await house.connectAll(['slow', 'other']);
    const stream = slow.client.io.engine.transport.ws._socket;
    stream.pause();
    const filler = 'x'.repeat(100_000);
    let sent = 0;
    // Until the kernel takes no more, and engine.io's queue fills.
    while (slow.server.conn.writeBuffer.length < 20) {
      io.emit('m', sent++, filler);
      if (sent % 3 === 0) slow.server.emit('m', 'direct', '');
      await turn();
    }
    for (const _ of range(100)) io.emit('m', sent++, 'small');
    // Nobody but the slow one is still sending.
    await other.fence();
    await turn();
    assert.equal(slow.server.conn.transport.writable, false);
    io.volatile.emit('volatile');
    slow.server.volatile.emit('volatile');
    const all = await other.take();
    const expected = range(sent);
    assert.deepEqual(
      all.filter(([event]) => event === 'm').map(([, n]) => n),
      expected,
    );
    assert.equal(all.at(-1)[0], 'volatile');
    stream.resume();
    const received = await slow.take();
    const numbers = received.map(([event, n]) => (event === 'm' ? n : event));
    // Those that are emitted after every third one while the filler is sent.
    const broadcasts = numbers.filter((n) => n !== 'direct');
    assert.deepEqual(broadcasts, expected);
    numbers.forEach((n, i) => {
      if (n === 'direct') assert.equal(numbers[i - 1] % 3, 2);
    });
    assert.ok(numbers.includes('direct'));
  });

  test(`the heartbeat goes on among broadcasts (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter(), pingInterval: 5 });
    const guests = await house.connectAll(['a', 'b', 'c']);
    let pings = 0;
    for (const { client } of guests) client.io.on('ping', () => pings++);
    let sent = 0;
    while (pings < 30) {
      house.io.emit('m', sent++);
      await turn();
    }
    for (const guest of guests) {
      const received = await guest.take();
      assert.deepEqual(
        received.map(([, n]) => n),
        range(sent),
      );
    }
  });

  test(`a listener of drain that throws keeps nothing back (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter() });
    const guests = await house.connectAll(['a', 'b', 'c', 'd']);
    await turn();
    const failures = [];
    const usual = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => failures.push(error.message));
    t.after(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of usual) process.on('uncaughtException', listener);
    });
    for (const { server, name } of guests.slice(0, 2)) {
      server.conn.once('drain', () => {
        throw new Error(name);
      });
    }
    // The in-memory adapter lets it come to who emits, and the rest get nothing: to each alone, then.
    const emits = adapterName === 'in-memory' ? guests.map(({ server }) => server.id) : [[]];
    for (const room of emits) {
      try {
        house.io.to(room).emit('m');
      } catch (error) {
        failures.push(error.message);
      }
    }
    while (failures.length < 2) await turn();
    assert.deepEqual(failures, ['a', 'b']);
    for (const guest of guests) assert.deepEqual(await guest.take(), [['m']]);
  });
}

/** Where the in-memory adapter sends the first packet only: the others wait for the end of the tick, which never comes. */
for (const [how, when] of [
  ['io.close()', 'in one tick'],
  ['io.close()', 'in a later tick of the turn'],
  ['process.exit()', 'in one tick'],
  ['process.exit()', 'in a later tick of the turn'],
]) {
  test(`end: broadcasts before ${how}, ${when}, arrive`, async (t) => {
    const script = fileURLToPath(new URL('./socket-io-exit.js', import.meta.url));
    const child = fork(script, [how, when]);
    t.after(() => child.kill());
    const [port] = await once(child, 'message');
    const client = connect(`http://127.0.0.1:${port}`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      timeout: longMs,
    });
    t.after(() => client.disconnect());
    const received = [];
    client.onAny((event) => received.push(event));
    await once(client, 'disconnect');
    assert.deepEqual(received, ['1', 'direct', '2']);
  });
}

const recovery = { connectionStateRecovery: { maxDisconnectionDuration: longMs } };

same('connection state recovery: what was missed comes, in order', {
  only: ['websocket'],
  options: recovery,
  expected: {
    recovered: true,
    sameId: true,
    rooms: true,
    received: ['before', 'missed 1', 'missed 2', 'missed 3', 'after', 'direct'],
    adapter: 'SessionAwareAdapter',
  },
  async play(house) {
    const { io } = house;
    const a = await house.connect();
    a.server.join('x');
    const { id } = a.client;
    io.emit('before');
    await a.fence();
    const gone = once(a.server, 'disconnect');
    a.client.io.engine.close();
    await gone;
    io.emit('missed 1');
    io.to('x').emit('missed 2');
    io.to('y').emit('not for it');
    io.volatile.emit('not kept');
    io.to(id).emit('missed 3');
    const back = once(io, 'connection');
    a.client.connect();
    const [server] = await back;
    server.on('fence', (answer) => answer());
    io.to('x').emit('after');
    server.emit('direct');
    const received = names(await a.take());
    const base = io.of('/').adapter;
    const chain = [];
    for (let it = base; it !== null; it = Object.getPrototypeOf(it)) {
      if (Object.hasOwn(it, 'restoreSession')) chain.push(it.constructor.name);
    }
    return {
      recovered: a.client.recovered,
      sameId: a.client.id === id,
      rooms: server.rooms.has('x'),
      received,
      adapter: chain[0],
    };
  },
});

same('connection state recovery: packets of one client keep their place', {
  options: recovery,
  expected: range(12),
  async play(house) {
    const a = await house.connect();
    for (const n of range(12)) {
      if (n % 3 === 0) a.server.emit('m', n);
      else if (n % 3 === 1) house.io.emit('m', n);
      else house.io.to(a.server.id).emit('m', n);
    }
    const received = await a.take();
    return received.map(([, n]) => n);
  },
});

same('dynamic namespaces: the parent emits to its children', {
  options: { cleanupEmptyChildNamespaces: true },
  expected: { one: ['all', 'one'], two: ['all'], left: ['/', '/n-1'] },
  async play(house) {
    const { io } = house;
    const parent = io.of(/^\/n-\d$/);
    const one = await house.connect({ name: 'one', namespace: '/n-1' });
    const two = await house.connect({ name: 'two', namespace: '/n-2' });
    parent.emit('all');
    io.of('/n-1').emit('one');
    const outcome = { one: names(await one.take()), two: names(await two.take()) };
    const gone = once(two.server, 'disconnect');
    two.client.disconnect();
    await gone;
    return { ...outcome, left: [...io._nsps.keys()].sort() };
  },
});

same('middleware: who is refused gets no broadcast', {
  expected: { error: 'not you', received: ['welcome', 'm'], refused: [] },
  async play(house) {
    const { io } = house;
    io.use((socket, next) => {
      io.emit('not there yet');
      next(socket.handshake.auth.name === 'b' ? new Error('not you') : undefined);
    });
    io.on('connection', () => io.emit('welcome'));
    const a = await house.connect({ name: 'a', auth: { name: 'a' } });
    const refused = connect(house.url, {
      transports: [house.transport],
      forceNew: true,
      reconnection: false,
      timeout: longMs,
      auth: { name: 'b' },
    });
    const seen = [];
    refused.onAny((event) => seen.push(event));
    const [error] = await once(refused, 'connect_error');
    io.emit('m');
    const received = names(await a.take()).filter((event) => event !== 'not there yet');
    refused.disconnect();
    return { error: error.message, received, refused: seen };
  },
});

same('an adapter that is set while clients are connected', {
  only: ['websocket'],
  expected: ['1', '2', '3'],
  async play(house) {
    const { io } = house;
    const a = await house.connect();
    io.emit('1');
    // It begins without rooms and members, as every adapter does.
    io.adapter(io.adapter());
    io.of('/').adapter.addAll(a.server.id, new Set([a.server.id]));
    a.server.emit('2');
    io.emit('3');
    return names(await a.take());
  },
});
