/** The end of an enlarged socket, however it comes, and what is left of it. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { enlarge } from 'millrace/net';
import { binding } from '../../dist/native/load.js';
import { chunksOf, digestOf, drained, found, growTo, nativeTest, on, send } from './bulk.js';
import { openPair, range, turn } from './pair.js';

const program = new URL('./bulk-program.js', import.meta.url);

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** A server that sends without end, to each connection. */
async function endless(t) {
  const server = createServer((peer) => {
    peer.on('error', () => {});
    send(peer, chunksOf(1 << 30));
  });
  const peers = new Set();
  server.on('connection', (peer) => peers.add(peer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const peer of peers) peer.destroy();
  });
  return { server, peers };
}

/** Also where an error comes first. */
const closeOf = (socket) => new Promise((resolve) => socket.once('close', resolve));

const ends = {
  'destroy()': (socket) => socket.destroy(),
  'destroy() with an error': (socket) => socket.destroy(new Error('on purpose')),
  'resetAndDestroy()': (socket) => socket.resetAndDestroy(),
  'destroy() while paused': (socket) => socket.pause().destroy(),
  'off() and destroy()': (socket, enlarged) => {
    enlarged.off();
    socket.destroy();
  },
  'a reset by the peer': (socket, _enlarged, peer) => {
    // A system answers with a reset when it closes what still has something to be read.
    socket.write('never read');
    peer.destroy();
  },
  'the handle, by the method of its class': (socket) => {
    // As who has kept it from before: nothing tells us.
    Object.getPrototypeOf(socket._handle).close.call(socket._handle);
    socket._handle = null;
    socket.destroy();
  },
};

for (const [how, end] of Object.entries(ends)) {
  test(`ended in the middle of a stream by ${how}`, async (t) => {
    const { server, peers } = await endless(t);
    for (const when of ['reading', 'a callback', 'a later turn']) {
      const socket = connect(server.address());
      const codes = [];
      socket.on('error', (error) => codes.push(error.code ?? error.message));
      const enlarged = enlarge(socket);
      await once(socket, 'connect');
      const closed = closeOf(socket);
      let ended = false;
      const now = () => {
        if (ended) return;
        ended = true;
        end(socket, enlarged, [...peers].at(-1));
      };
      if (when !== 'reading') await found(enlarged);
      let chunks = 0;
      socket.on('data', () => {
        chunks++;
        if (when === 'reading' && chunks === 1) now();
        if (when === 'a callback' && chunks === 20) now();
        if (when === 'a later turn' && chunks === 20) setImmediate(now);
      });
      await closed;
      assert.ok(chunks > 0);
      assert.equal(enlarged.active, false);
      assert.equal(enlarged.stats(), null);
      enlarged.off();
      // libuv may take a reset for an end where there is something left to be read.
      if (how === 'a reset by the peer') assert.ok(codes.every((code) => code === 'ECONNRESET'));
    }
  });
}

test('many sockets, one after another and in the same memory: each gets its own bytes', async (t) => {
  const bytes = 600_000;
  const server = createServer((peer) => {
    peer.on('error', () => {});
    peer.once('data', (seed) => {
      send(peer, chunksOf(bytes, Number(seed))).then(() => peer.end());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const descriptors = new Set();
  for (const round of range(12)) {
    await Promise.all(
      range(20).map(async (n) => {
        const seed = round * 20 + n;
        const socket = connect(server.address());
        const enlarged = enlarge(socket);
        await once(socket, 'connect');
        if (on) descriptors.add(socket._handle.fd);
        socket.write(`${seed}`);
        const chunks = [];
        for await (const chunk of socket) {
          chunks.push(chunk);
          // Some leave early, some without their handle's methods.
          if (n % 4 === 0) break;
        }
        if (n % 4 !== 0) assert.equal(digestOf(chunks), digestOf(chunksOf(bytes, seed)));
        if (n % 3 === 0) enlarged.off();
        assert.equal(enlarged.active, false);
      }),
    );
  }
  assert.ok(descriptors.size < 240);
});

nativeTest('thousands of sockets of one turn are found by one search', async (t) => {
  const { server, peers } = await endless(t);
  server.removeAllListeners('connection');
  server.on('connection', (peer) => peers.add(peer));
  const sockets = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const batch of range(10)) {
    const connecting = range(100).map(() => connect(server.address()));
    sockets.push(...connecting);
    await Promise.all(connecting.map((socket) => once(socket, 'connect')));
    while (peers.size < (batch + 1) * 100) await once(server, 'connection');
  }
  const { mock } = t.mock.method(binding, 'enlargeFind');
  const enlarged = [...sockets, ...peers].map((socket) => enlarge(socket));
  assert.equal(enlarged.length, 2000);
  await found(enlarged.at(-1));
  assert.equal(mock.callCount(), 1);
  assert.ok(enlarged.every(({ active }) => active));
  // Nothing to look for: no search.
  enlarge(sockets[0]);
  const gone = await openPair(t);
  const closed = closeOf(gone.socket);
  enlarge(gone.socket);
  gone.socket.destroy();
  await turn();
  await closed;
  assert.equal(mock.callCount(), 1);
});

test('a socket that is connected again is enlarged again', async (t) => {
  const { server } = await endless(t);
  const socket = connect(server.address());
  socket.on('data', () => {});
  const enlarged = enlarge(socket);
  for (const _ of range(3)) {
    await once(socket, 'connect');
    await found(enlarged);
    await once(socket, 'data');
    await once(socket, 'data');
    if (on) assert.equal(enlarged.stats().bytes > 0, true);
    const closed = closeOf(socket);
    socket.destroy();
    await closed;
    assert.equal(enlarged.active, false);
    socket.connect(server.address());
  }
  socket.destroy();
});

test('a socket that cannot connect', async () => {
  // No other program is given this port.
  const socket = connect(1, '127.0.0.1');
  const enlarged = enlarge(socket);
  const [error] = await once(socket, 'error');
  assert.equal(error.code, 'ECONNREFUSED');
  assert.equal(enlarged.active, false);
});

for (const keepOpen of [false, true]) {
  test(`a socket that is sent to a child${keepOpen ? ', and kept open' : ''}`, async (t) => {
    const { socket, received } = await openPair(t);
    const enlarged = enlarge(socket);
    await found(enlarged);
    const child = fork(fileURLToPath(new URL('./receiver.js', import.meta.url)));
    t.after(() => child.kill());
    child.send('from the child', socket, { keepOpen });
    await once(child, 'message');
    if (keepOpen) socket.destroy();
    assert.equal(await received.ended, 'end');
    assert.equal(received.text(), 'from the child');
    while (enlarged.active) await turn();
  });
}

test('nothing keeps a closed socket', async (t) => {
  const { server } = await endless(t);
  const kept = [];
  const references = [];
  for (const n of range(20)) {
    await (async () => {
      const socket = connect(server.address());
      const enlarged = enlarge(socket);
      await once(socket, 'connect');
      await found(enlarged);
      socket.on('data', () => {});
      await once(socket, 'data');
      const closed = closeOf(socket);
      socket.destroy();
      await closed;
      references.push(new WeakRef(socket));
      if (n === 0) kept.push(socket);
    })();
  }
  const alive = () => references.filter((reference) => reference.deref() !== undefined).length;
  for (let n = 0; n < 50 && alive() > 2; n++) {
    await turn();
    gc();
  }
  // The one that is kept here, and at most one more that this function's frame may still hold.
  assert.ok(alive() <= 2, `${alive()} are alive`);
  assert.equal(kept.length, 1);
});

for (const how of ['process.exit()', 'an uncaught error', 'a worker that exits']) {
  test(`a process with open enlarged sockets ends by ${how}`, async () => {
    const child = fork(program, [how], { stdio: 'pipe' });
    child.stderr.setEncoding('utf8');
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    const [code, signal] = await once(child, 'close');
    assert.equal(signal, null, errors);
    assert.equal(code, how === 'an uncaught error' ? 1 : 3, errors);
  });
}

test('a worker that is ended from outside, with open enlarged sockets', async (t) => {
  const { server } = await endless(t);
  const { port } = server.address();
  for (const _ of range(4)) {
    const workers = range(2).map(() => new Worker(program, { argv: ['wait', port] }));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    await Promise.all(workers.map((worker) => worker.terminate()));
    const socket = connect(server.address());
    const enlarged = enlarge(socket);
    await once(socket, 'connect');
    await found(enlarged);
    await once(socket, 'data');
    socket.destroy();
  }
});

test('sockets of a worker are read like those of the main thread', async (t) => {
  const server = createServer((peer) => send(peer, chunksOf(4 << 20)).then(() => peer.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const worker = new Worker(program, { argv: ['digest', server.address().port] });
  // Both may come in one call: what a worker has posted is handed out as it ends.
  const exited = once(worker, 'exit');
  const [{ digest, active }] = await once(worker, 'message');
  assert.equal(digest, digestOf(chunksOf(4 << 20)));
  assert.equal(active, on);
  await exited;
});

nativeTest(
  'what the addon keeps of a socket is free again when it closes, and before',
  async (t) => {
    const { server } = await endless(t);
    const { enlargeFind } = binding;
    const places = new Set();
    binding.enlargeFind = (descriptors, options, into) => {
      enlargeFind(descriptors, options, into);
      for (const place of into) places.add(place);
    };
    t.after(() => {
      binding.enlargeFind = enlargeFind;
    });
    for (const end of [ends['destroy()'], ends['resetAndDestroy()'], ends['off() and destroy()']]) {
      for (const _ of range(3)) {
        const socket = connect(server.address());
        const enlarged = enlarge(socket);
        await once(socket, 'connect');
        await found(enlarged);
        const closed = closeOf(socket);
        end(socket, enlarged);
        await closed;
      }
    }
    assert.equal(places.size, 1);
  },
);

nativeTest('a second socket over the same handle is left alone', async (t) => {
  const { socket, peer } = await openPair(t);
  socket.on('data', () => {});
  const enlarged = enlarge(socket);
  await found(enlarged);
  await growTo(131_072, { peer, enlarged });
  // It gets what is read from now on.
  const other = new Socket({ handle: socket._handle });
  other.resume();
  const second = enlarge(other);
  await turn();
  await turn();
  assert.equal(second.active, false);
  assert.equal(enlarged.active, true);
  const { bytes } = enlarged.stats();
  while (enlarged.stats().bytes === bytes)
    if (!peer.write(Buffer.alloc(1 << 20))) await drained(peer);
});
