import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from './hall.js';
import { adapters, inOneTurn, open, range, same, takeAll, transports, turn } from './socket-io.js';

const numbers = (messages) => messages.map(([, n]) => n);

same('order: broadcasts and direct packets of one tick', {
  expected: { a: range(9), b: [0, 2, 3, 5, 8], c: [2, 5, 7, 8] },
  async play(house) {
    const guests = await house.connectAll(['a', 'b', 'c']);
    const { io } = house;
    const [a, b, c] = guests.map(({ server }) => server);
    a.join('x');
    b.join('x');
    io.to('x').emit('m', 0);
    a.emit('m', 1);
    io.emit('m', 2);
    io.to('x').emit('m', 3);
    a.emit('m', 4);
    c.broadcast.emit('m', 5);
    c.emit('m', 5);
    a.emit('m', 6);
    io.to(c.id).to(a.id).emit('m', 7);
    io.emit('m', 8);
    const received = await takeAll(guests);
    return Object.fromEntries(Object.entries(received).map(([name, of]) => [name, numbers(of)]));
  },
});

same('order: broadcasts and direct packets of many ticks of one turn', {
  expected: [range(200), range(200)],
  async play(house) {
    const [a, b] = await house.connectAll(['a', 'b']);
    const { io } = house;
    // A direct packet here and there, for one of the two after the other.
    const emits = [
      (n) => io.emit('m', n),
      (n) => a.server.emit('m', n) && a.server.broadcast.emit('m', n),
      (n) => io.emit('m', n),
      (n) => io.to([a.server.id, b.server.id]).emit('m', n),
      (n) => b.server.broadcast.emit('m', n) && b.server.emit('m', n),
    ];
    await inOneTurn(
      range(100).map((n) => () => {
        emits[n % 5](2 * n);
        if (n % 3 === 0) process.nextTick(() => io.emit('m', 2 * n + 1));
        else if (n % 3 === 1) Promise.resolve().then(() => io.emit('m', 2 * n + 1));
        else emits[n % 4](2 * n + 1);
      }),
    );
    return [numbers(await a.take()), numbers(await b.take())];
  },
});

same('order: namespaces of one connection', {
  expected: ['/ 0', '/b 1', '/ 2', '/b 3', '/b 4', '/ 5', '/b 6', '/ 7'],
  async play(house) {
    const { io } = house;
    io.of('/b');
    const a = await house.connect({ name: 'a' });
    const { client: manager } = { client: a.client.io };
    const b = manager.socket('/b');
    await new Promise((resolve) => b.once('connect', resolve));
    const server = await house.socket('/b', b.id);
    const received = [];
    a.client.onAny((_, n) => received.push(`/ ${n}`));
    b.onAny((_, n) => received.push(`/b ${n}`));
    io.emit('m', 0);
    io.of('/b').emit('m', 1);
    io.emit('m', 2);
    server.emit('m', 3);
    await turn();
    io.of('/b').emit('m', 4);
    io.emit('m', 5);
    server.emit('m', 6);
    a.server.emit('m', 7);
    await a.fence();
    return received;
  },
});

same('order: packets that the application writes to engine.io', {
  only: ['websocket'],
  expected: ['2["m",0]', 'raw', '2["m",1]', '2["m",2]', 'raw', '2["m",3]'],
  async play(house) {
    const a = await house.connect();
    const packets = [];
    a.client.io.engine.on('message', (data) => packets.push(data));
    // Not of socket.io: the client must not decode it.
    a.client.io.ondata = function (data) {
      if (data !== 'raw') this.decoder.add(data);
    };
    a.client.io.engine.off('data');
    a.client.io.engine.on('data', (data) => a.client.io.ondata(data));
    const { io } = house;
    io.emit('m', 0);
    a.server.conn.send('raw');
    io.emit('m', 1);
    await turn();
    io.emit('m', 2);
    await new Promise(process.nextTick);
    a.server.conn.write('raw');
    io.emit('m', 3);
    await a.fence();
    return packets.filter((packet) => !packet.startsWith('3'));
  },
});

for (const [adapterName, adapter] of Object.entries(adapters)) {
  test(`order: clients upgrade while broadcasts run (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter() });
    const { io } = house;
    let next = 0;
    let upgraded = 0;
    io.engine.on('connection', (conn) => conn.on('upgrade', () => upgraded++));
    let running = true;
    const broadcast = (async () => {
      while (running) {
        io.emit('m', next++);
        if (next % 3 === 0) io.except('none').emit('m', next++);
        await turn();
        for (const { server } of Object.values(house.guests)) {
          if (next % 7 === 0) server?.emit('direct', next);
        }
      }
    })();
    const names = range(10).map((n) => `guest ${n}`);
    const guests = [];
    for (const name of names) {
      guests.push(await house.connect({ name, transports: ['polling', 'websocket'] }));
    }
    while (upgraded < guests.length) await turn();
    for (const _ of range(50)) await turn();
    running = false;
    await broadcast;
    for (const guest of guests) {
      assert.equal(guest.server.conn.transport.name, 'websocket');
      const all = await guest.take();
      const received = numbers(all.filter(([event]) => event === 'm'));
      const [first] = received;
      assert.deepEqual(
        received,
        range(next - first).map((n) => first + n),
      );
      // What is emitted directly comes right after the broadcast before it.
      let last = -1;
      for (const [event, n] of all) {
        if (event === 'direct' && last >= 0) assert.equal(last, n - 1);
        else if (event === 'm') last = n;
      }
    }
  });
}

for (const transport of transports) {
  for (const seed of range(transport === 'websocket' ? 4 : 2)) {
    test(`order: random operations, seed ${seed} (${transport})`, async (t) => {
      const outcomes = [];
      for (const adapter of Object.values(adapters)) {
        const house = await open(t, { adapter: adapter(), transport });
        outcomes.push(await playRandomly(house, randomFrom(seed)));
      }
      const [expected, actual] = outcomes;
      assert.deepEqual(actual, expected);
      assert.ok(Object.values(expected).flat().length > 200);
    });
  }
}

/** What each of the clients of two namespaces receives, when all that happens is decided by `random`. */
async function playRandomly(house, random) {
  const { io } = house;
  const side = io.of('/side');
  const guests = await house.connectAll(['a', 'b', 'c', 'd', 'e', 'f']);
  for (const name of ['p', 'q', 'r']) {
    guests.push(await house.connect({ name, namespace: '/side' }));
  }
  const pick = (list) => list[Math.floor(random() * list.length)];
  const rooms = ['x', 'y', 'z', 'none'];
  const some = () => rooms.filter(() => random() < 0.4);
  const payload = (n) =>
    pick([
      () => [n],
      () => [n, 'é'.repeat(Math.floor(random() * 200))],
      () => [n, Buffer.from([n & 255, 1, 2])],
      () => [n, { a: [Buffer.alloc(300, n), 'text', new Uint8Array([n & 255])] }],
      () => [n, '.'.repeat(Math.floor(random() * 40_000))],
    ])();
  for (let n = 0; n < 500; n++) {
    const { server } = pick(guests);
    const nsp = random() < 0.7 ? io.of('/') : side;
    await pick([
      () => server.join(some()),
      () => server.leave(pick(rooms)),
      () => nsp.emit('all', ...payload(n)),
      () => nsp.to(some()).emit('rooms', ...payload(n)),
      () =>
        nsp
          .to(some())
          .except(some())
          .emit('except', ...payload(n)),
      () => server.broadcast.to(some()).emit('others', ...payload(n)),
      () => server.emit('direct', ...payload(n)),
      () => server.compress(false).emit('direct', ...payload(n)),
      () => nsp.in(pick(rooms)).socketsJoin(pick(rooms)),
      () => nsp.in(pick(rooms)).socketsLeave(pick(rooms)),
      () => random() < 0.05 && server.disconnect(random() < 0.5),
      () => Promise.resolve(),
      () => new Promise(process.nextTick),
      () => turn(),
    ])();
  }
  const received = {};
  for (const guest of guests) {
    if (guest.server.connected) await guest.fence();
    else while (guest.client.connected) await turn();
    received[guest.name] = guest.received;
  }
  return received;
}
