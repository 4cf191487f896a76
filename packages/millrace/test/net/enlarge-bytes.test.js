/** However an enlarged socket is read, the bytes are the same. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { coalesce, enlarge } from 'millrace/net';
import { chunksOf, digestOf, found, on, send } from './bulk.js';
import { openPair, turn } from './pair.js';

const bytes = 12 * 1024 * 1024;

const readers = {
  'by events': async (socket) => {
    const chunks = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'end');
    return chunks;
  },
  'with pauses': async (socket) => {
    const chunks = [];
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (chunks.length % 3 !== 0) return;
      socket.pause();
      if (chunks.length % 2 === 0) socket.resume();
      else setImmediate(() => socket.resume());
    });
    await once(socket, 'end');
    return chunks;
  },
  'by read()': async (socket) => {
    const chunks = [];
    socket.on('readable', () => {
      for (let chunk = socket.read(1000); chunk !== null; chunk = socket.read(1000))
        chunks.push(chunk);
      const rest = socket.read();
      if (rest !== null) chunks.push(rest);
    });
    await once(socket, 'end');
    return chunks;
  },
  'by a loop': all,
  'through a pipe': (socket) => all(socket.pipe(new PassThrough())),
  'through a slow pipe': async (socket) => {
    const chunks = [];
    for await (const chunk of socket.pipe(new PassThrough())) {
      chunks.push(chunk);
      if (chunks.length % 8 === 0) await turn();
    }
    return chunks;
  },
  'as text': async (socket) => {
    socket.setEncoding('latin1');
    return (await all(socket)).map((text) => Buffer.from(text, 'latin1'));
  },
};

async function all(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const expected = digestOf(chunksOf(bytes));

for (const side of ['client', 'server']) {
  for (const [how, read] of Object.entries(readers)) {
    test(`a ${side}'s socket, read ${how}`, async (t) => {
      const { socket, peer } = await openPair(t, { side });
      const enlarged = enlarge(socket);
      const reading = read(socket);
      await found(enlarged);
      assert.equal(enlarged.active, on);
      send(peer, chunksOf(bytes)).then(() => peer.end());
      assert.equal(digestOf(await reading), expected);
    });
  }
}

test('a client that is enlarged before it connects', async (t) => {
  const server = createServer((peer) => {
    // Not before its reads are found: a busy loop could find them after the last byte.
    peer.once('data', () => send(peer, chunksOf(bytes)).then(() => peer.end()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect(server.address());
  const enlarged = enlarge(socket);
  assert.equal(enlarged.active, false);
  assert.equal(enlarged.stats(), null);
  await once(socket, 'connect');
  await found(enlarged);
  assert.equal(enlarged.active, on);
  socket.write('.');
  let reads = 0;
  const chunks = [];
  for await (const chunk of socket) {
    chunks.push(chunk);
    reads = enlarged.stats()?.reads ?? reads;
  }
  assert.equal(digestOf(chunks), expected);
  assert.equal(reads > 0, on);
});

test('a server whose sockets are paused until they are wanted', async (t) => {
  const { socket, peer } = await openPair(t, { side: 'server', pauseOnConnect: true });
  const enlarged = enlarge(socket);
  await found(enlarged);
  send(peer, chunksOf(bytes)).then(() => peer.end());
  const reading = readers['by events'](socket);
  socket.resume();
  if (on) {
    await once(socket, 'data');
    assert.ok(enlarged.stats().reads > 0);
  }
  assert.equal(digestOf(await reading), expected);
});

test('half-closed both ways: each side still gets what the other sends', async (t) => {
  for (const side of ['client', 'server']) {
    const { socket, peer, received } = await openPair(t, { side, allowHalfOpen: true });
    await found(enlarge(socket));
    socket.end('asked');
    await received.ended;
    assert.equal(received.text(), 'asked');
    const reading = readers['by events'](socket);
    await send(peer, chunksOf(bytes));
    peer.end();
    assert.equal(digestOf(await reading), expected);

    const other = await openPair(t, { side, allowHalfOpen: true });
    await found(enlarge(other.socket));
    other.peer.end('last');
    assert.equal(Buffer.concat(await readers['by events'](other.socket)).toString(), 'last');
    other.socket.end('answer');
    await other.received.ended;
    assert.equal(other.received.text(), 'answer');
  }
});

test('coalesced and enlarged, in either order', async (t) => {
  for (const first of [coalesce, enlarge]) {
    const { socket, peer, received } = await openPair(t);
    first(socket);
    const second = first === coalesce ? enlarge : coalesce;
    second(socket);
    await found(enlarge(socket));
    const reading = all(socket);
    send(peer, chunksOf(bytes)).then(() => peer.end());
    for (let n = 0; n < 100; n++) socket.write(`${n},`);
    assert.equal(digestOf(await reading), expected);
    await received.ended;
    assert.ok(received.text().startsWith('0,1,2,') && received.text().endsWith('98,99,'));
    assert.ok(coalesce(socket).stats().coalesced > 90);
  }
});
