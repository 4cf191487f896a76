import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { certificate } from './certificate.js';
import { adapters, inOneTurn, longMs, open, range, same, takeAll, turn } from './socket-io.js';

const names = (messages) => messages.map(([event]) => event);

/** Payloads of all kinds and lengths. */
const payloads = [
  ['nothing', []],
  ['an empty string', ['']],
  ['text beyond ASCII', ['é', '漢字', '😀', '\u0000\u2028']],
  ['values', [1, -0.5, true, null, { a: [{ b: 'c' }] }, []]],
  ['a Buffer', [Buffer.from([0, 1, 255])]],
  ['an empty Buffer', [Buffer.alloc(0)]],
  [
    'several attachments',
    [{ a: Buffer.from('a'), b: [Buffer.from('b')] }, 'text', Buffer.from('c')],
  ],
  // The lengths around which a frame's header changes;
  ...[125, 126, 65_535, 65_536].flatMap((length) => [
    [`text in a frame of ${length}`, ['x'.repeat(length - '42["m",""]'.length)]],
    [`a Buffer of ${length}`, [Buffer.alloc(length, 7)]],
  ]),
  ['a megabyte', ['x'.repeat(1_000_000)]],
];

for (const [name, payload] of payloads) {
  same(`packets: ${name}`, {
    expected: [
      ['m', ...payload],
      ['m', ...payload],
      ['last', 1],
    ],
    async play(house) {
      const [a] = await house.connectAll(['a', 'b']);
      house.io.emit('m', ...payload);
      house.io.to(a.server.id).emit('m', ...payload);
      house.io.emit('last', 1);
      return a.take();
    },
  });
}

same('packets: bytes that are not in a Buffer', {
  expected: [
    [Buffer.from([1, 2]), Buffer.from([3, 0, 4, 0]), Buffer.from([5, 6]), Buffer.from([8])],
  ],
  async play(house) {
    const a = await house.connect();
    house.io.emit(
      'm',
      new Uint8Array([1, 2]),
      new Uint16Array([3, 4]),
      new Uint8Array([5, 6]).buffer,
      new DataView(new Uint8Array([7, 8, 9]).buffer, 1, 1),
    );
    const received = await a.take();
    return received.map(([, ...bytes]) => bytes.map((part) => Buffer.from(part)));
  },
});

test('packets: a buffer can be used again after emit()', async (t) => {
  const house = await open(t, { adapter: adapters.millrace() });
  const a = await house.connect();
  const buffer = Buffer.from('before');
  house.io.emit('m', buffer);
  buffer.write('after!');
  assert.deepEqual(await a.take(), [['m', Buffer.from('before')]]);
});

test('packets: broadcasts of a turn arrive in one piece', async (t) => {
  const house = await open(t, { adapter: adapters.millrace() });
  const guests = await house.connectAll(['a', 'b']);
  const chunks = guests.map(({ client }) => {
    const seen = [];
    client.io.engine.transport.ws._socket.on('data', (chunk) => seen.push(chunk));
    return seen;
  });
  const { bytesWritten } = guests[0].socket;
  await inOneTurn(
    range(20).map((n) => () => {
      house.io.emit('m', n);
      house.io.emit('b', Buffer.from([n]));
      // Not yet, although 19 ticks have passed.
      assert.equal(guests[0].socket.bytesWritten, bytesWritten);
    }),
  );
  for (const guest of guests) await guest.until((received) => received.length === 40);
  assert.deepEqual(
    chunks.map((seen) => seen.length),
    [1, 1],
  );
});

test('packets: broadcasts of a turn arrive in one piece after an upgrade', async (t) => {
  const house = await open(t, { adapter: adapters.millrace() });
  const a = await house.connect({ transports: ['polling', 'websocket'] });
  const { conn } = a.server;
  // It has been written to before.
  house.io.emit('m');
  while (conn.transport.name !== 'websocket') await turn();
  await a.take();
  const chunks = [];
  a.client.io.engine.transport.ws._socket.on('data', (chunk) => chunks.push(chunk));
  await inOneTurn(range(20).map((n) => () => house.io.emit('m', n)));
  await a.until((received) => received.length === 20);
  assert.equal(chunks.length, 1);
});

same('packets: onAnyOutgoing sees each, and may emit', {
  expected: {
    seen: ['1', 'from the listener', '2', 'to b', 'direct'],
    a: ['from the listener', '1', '2', 'direct'],
    b: ['from the listener', '1', 'to b', '2'],
  },
  async play(house) {
    const { io } = house;
    const [a, b] = await house.connectAll(['a', 'b']);
    const seen = [];
    a.server.onAnyOutgoing((event) => {
      seen.push(event);
      if (event === '1') io.emit('from the listener');
      if (event === '2') {
        // Others of this broadcast are still to come.
        io.to(b.server.id).emit('to b');
        seen.push('to b');
      }
    });
    io.emit('1');
    io.emit('2');
    a.server.emit('direct');
    const received = await takeAll([a, b]);
    // An acknowledgement is no event.
    return { seen, a: names(received.a), b: names(received.b) };
  },
});

same('packets: an error thrown by an onAnyOutgoing listener comes to who emits', {
  expected: { thrown: 'refused', a: ['1', '3'], b: ['1', '3'] },
  async play(house) {
    const { io } = house;
    const guests = await house.connectAll(['a', 'b']);
    let thrown = null;
    guests[0].server.onAnyOutgoing((event) => {
      if (event === '2') throw new Error('refused');
    });
    io.emit('1');
    try {
      io.emit('2');
    } catch (error) {
      thrown = error.message;
    }
    io.emit('3');
    const received = await takeAll(guests);
    return { thrown, a: names(received.a), b: names(received.b) };
  },
});

/** Who may watch the packets of a connection, one at a time. */
const watchers = {
  "the connection's packetCreate": (conn, _, note) => conn.on('packetCreate', note),
  "the connection's flush": (conn, _, note) => conn.on('flush', (all) => all.forEach(note)),
  "the server's flush": (conn, engine, note) =>
    engine.on('flush', (of, all) => of === conn && all.forEach(note)),
};

for (const [name, watch] of Object.entries(watchers)) {
  same(`packets: a listener of ${name} sees each`, {
    only: ['websocket'],
    expected: {
      seen: ['2["1"]', '2["2"]', '2["direct"]', '2["3"]'],
      received: ['0', '1', '2', 'direct', '3'],
    },
    async play(house) {
      const { io } = house;
      const a = await house.connect();
      io.emit('0');
      await turn();
      await turn();
      const seen = [];
      watch(a.server.conn, io.engine, ({ type, data }) => type === 'message' && seen.push(data));
      io.emit('1');
      io.emit('2');
      a.server.emit('direct');
      io.emit('3');
      await turn();
      await turn();
      const packets = [...seen];
      return { seen: packets, received: names(await a.take()) };
    },
  });
}

same("packets: engine.io's drain comes after broadcasts, with an empty queue", {
  only: ['websocket'],
  expected: { queued: 0, isOurs: true },
  async play(house) {
    const a = await house.connect();
    await turn();
    const drained = Promise.all([once(a.server.conn, 'drain'), once(house.io.engine, 'drain')]);
    house.io.emit('m');
    const [, [conn]] = await drained;
    return { queued: conn.writeBuffer.length, isOurs: conn === a.server.conn };
  },
});

same('volatile: what follows another packet in the same tick is dropped', {
  only: ['websocket'],
  expected: [
    ['1', '5', '6', '7', '8', '9'],
    ['1', '6', '7', '9'],
  ],
  async play(house) {
    const { io } = house;
    const [a, b] = await house.connectAll(['a', 'b']);
    await turn();
    io.volatile.emit('1');
    io.volatile.emit('2');
    a.server.volatile.emit('3');
    await turn();
    await turn();
    a.server.emit('5');
    a.server.volatile.emit('4');
    io.to(a.server.id).volatile.emit('4');
    await turn();
    await turn();
    io.emit('6');
    a.server.volatile.emit('4');
    await turn();
    await turn();
    // Ticks of one turn: nobody is still sending.
    await inOneTurn([
      () => io.volatile.emit('7'),
      () => a.server.volatile.emit('8'),
      () => io.volatile.emit('9'),
    ]);
    return [names(await a.take()), names(await b.take())];
  },
});

for (const [name, options] of Object.entries({
  'permessage-deflate': { perMessageDeflate: { threshold: 0 } },
  'no compression of HTTP': { httpCompression: false },
  'compressed HTTP': { httpCompression: { threshold: 0 } },
})) {
  same(`packets: ${name}`, {
    options,
    expected: range(30).flatMap((n) => [
      ['m', n, 'x'.repeat(n * 100)],
      ['b', Buffer.alloc(n, n)],
    ]),
    async play(house) {
      const a = await house.connect({ perMessageDeflate: { threshold: 0 } });
      for (const n of range(30)) {
        house.io.compress(n % 2 === 0).emit('m', n, 'x'.repeat(n * 100));
        house.io.emit('b', Buffer.alloc(n, n));
        if (n % 10 === 0) await turn();
      }
      return a.take();
    },
  });
}

for (const [adapterName, adapter] of Object.entries(adapters)) {
  test(`packets: over TLS (${adapterName})`, async (t) => {
    const house = await open(t, { adapter: adapter(), server: createServer(certificate()) });
    const guests = [];
    for (const name of ['a', 'b']) {
      guests.push(await house.connect({ name, rejectUnauthorized: false }));
    }
    for (const n of range(100)) {
      house.io.emit('m', n);
      if (n % 10 === 0) guests[0].server.emit('m', 'direct');
      if (n % 33 === 0) await turn();
    }
    const [a, b] = [await guests[0].take(), await guests[1].take()];
    assert.deepEqual(
      b.map(([, n]) => n),
      range(100),
    );
    assert.deepEqual(
      a.map(([, n]) => n),
      range(100).flatMap((n) => (n % 10 === 0 ? [n, 'direct'] : [n])),
    );
  });
}

/** A parser whose packets are bytes, as those of socket.io-msgpack-parser. */
const bytesParser = (() => {
  class Encoder {
    encode(packet) {
      return [Buffer.from(JSON.stringify(packet))];
    }
  }
  class Decoder extends EventTarget {
    #listeners = [];
    on(_, listener) {
      this.#listeners.push(listener);
    }
    off() {}
    emit() {}
    add(bytes) {
      const packet = JSON.parse(Buffer.from(bytes).toString());
      for (const listener of this.#listeners) listener(packet);
    }
    removeListener(_, listener) {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    }
    destroy() {}
  }
  return { Encoder, Decoder };
})();

same('packets: a parser that encodes to bytes', {
  options: { parser: bytesParser },
  expected: [
    ['m', 1],
    ['m', 'direct'],
    ['m', 2],
  ],
  async play(house) {
    const a = await house.connect({ parser: bytesParser });
    house.io.emit('m', 1);
    a.server.emit('m', 'direct');
    house.io.emit('m', 2);
    return a.take();
  },
});

/** Clients that socket.io-client is not: what arrives, as `ws` tells it. */
const dialects = {
  'version 3 of the protocol': [
    'EIO=3',
    ['42["m",1]', '451-["b",{"_placeholder":true,"num":0}]', '<04 09>', '42["m",2]'],
  ],
  'base64 only': [
    'EIO=4&b64=1',
    ['42["m",1]', '451-["b",{"_placeholder":true,"num":0}]', 'bCQ==', '42["m",2]'],
  ],
  'version 4': [
    'EIO=4',
    ['42["m",1]', '451-["b",{"_placeholder":true,"num":0}]', '<09>', '42["m",2]'],
  ],
};

for (const [name, [query, expected]] of Object.entries(dialects)) {
  same(`packets: to a client of ${name}`, {
    only: ['websocket'],
    options: { allowEIO3: true },
    expected,
    async play(house) {
      const { io } = house;
      const connected = once(io, 'connection');
      const ws = new WebSocket(
        `${house.url.replace('http', 'ws')}/socket.io/?${query}&transport=websocket`,
      );
      const messages = [];
      const last = new Promise((resolve) => {
        ws.on('message', (data, isBinary) => {
          const text = isBinary
            ? `<${data.toString('hex').replace(/..(?!$)/g, '$& ')}>`
            : `${data}`;
          messages.push(text);
          if (text === '42["m",2]') resolve();
        });
      });
      await once(ws, 'open');
      if (query !== 'EIO=3') ws.send('40');
      await connected;
      io.emit('m', 1);
      io.emit('b', Buffer.from([9]));
      io.emit('m', 2);
      await last;
      ws.terminate();
      return messages.filter((message) => !/^40|^0/.test(message));
    },
  });
}

same('acknowledgements: of all, of one, of nobody', {
  expected: { all: ['a', 'b', 'c'], room: ['b'], nobody: [], single: 'c', direct: 'a' },
  async play(house) {
    const { io } = house;
    const [a, b, c] = await house.connectAll(['a', 'b', 'c']);
    b.server.join('x');
    const slow = io.timeout(longMs);
    const [all, room, nobody, single, direct] = await Promise.all([
      slow.emitWithAck('m'),
      slow.to('x').emitWithAck('m', Buffer.from('b')),
      slow.to('none').emitWithAck('m'),
      c.server.timeout(longMs).emitWithAck('m'),
      a.server.emitWithAck('m'),
    ]);
    return { all: all.sort(), room, nobody, single, direct };
  },
});

same('acknowledgements: too late, with those that have come', {
  expected: {
    error: 'operation has timed out',
    responses: ['b'],
    left: [0, 0],
  },
  async play(house) {
    const { io } = house;
    const [a, b] = await house.connectAll(['a', 'b']);
    // Never answers.
    a.note = () => {};
    let end;
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, ms, ...args) => {
      if (ms !== longMs) return setTimeout(run, ms, ...args);
      end = run;
    };
    const failed = io
      .timeout(longMs)
      .emitWithAck('m')
      .catch((error) => error);
    globalThis.setTimeout = setTimeout;
    while (b.server.acks.size > 0) await turn();
    end();
    const error = await failed;
    return {
      error: error.message,
      responses: error.responses,
      left: [a.server.acks.size, b.server.acks.size],
    };
  },
});

same('packets: what is emitted and asked for while a packet is encoded', {
  expected: {
    a: ['inner', 'inner', 'outer', 'm'],
    b: ['inner', 'inner', 'outer', 'm'],
    sockets: [true, true],
    acks: ['a', 'b'],
  },
  async play(house) {
    const { io } = house;
    const guests = await house.connectAll(['a', 'b']);
    let fetched;
    // Encoding asks for its value twice.
    const strange = {
      toJSON() {
        fetched = io.fetchSockets();
        io.emit('inner');
        return 'value';
      },
    };
    io.emit('outer', strange);
    io.emit('m');
    const sockets = (await fetched).map((socket) => io.of('/').sockets.get(socket.id) === socket);
    const received = await takeAll(guests);
    const acks = (await io.timeout(longMs).emitWithAck('m')).sort();
    return { a: names(received.a), b: names(received.b), sockets, acks };
  },
});
