/** Corks of the application: they nest, and what they gather counts as one write. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { openPair, range, systemWrites, turn } from './pair.js';

async function setUp(t, options) {
  const pair = await openPair(t);
  return { ...pair, coalescer: coalesce(pair.socket, options), writes: systemWrites(pair.socket) };
}

const corked = (socket, ...chunks) => {
  socket.cork();
  for (const chunk of chunks) socket.write(chunk);
  socket.uncork();
};

test('the first cork of a turn leaves with its uncork, others wait for the end', async (t) => {
  const { socket, received, coalescer, writes } = await setUp(t);
  corked(socket, 'a', 'b');
  assert.deepEqual(writes, [2]);
  corked(socket, 'c', 'd');
  socket.write('e');
  corked(socket, 'f', 'g', 'h');
  assert.deepEqual(writes, [2]);
  await turn();
  assert.deepEqual(writes, [2, 6]);
  assert.equal(socket.writableCorked, 0);
  await received.length(8);
  assert.equal(received.text(), 'abcdefgh');
  assert.deepEqual(coalescer.stats(), { writes: 8, coalesced: 3, flushes: 1 });
});

test('corks nest', async (t) => {
  const { socket, received, writes } = await setUp(t);
  socket.cork();
  socket.cork();
  socket.write('a');
  socket.uncork();
  socket.write('b');
  assert.deepEqual(writes, []);
  socket.uncork();
  assert.deepEqual(writes, [2]);
  await received.length(2);
});

test('a cork over several turns keeps what is under it, and not what came before', async (t) => {
  const { socket, received, writes } = await setUp(t);
  socket.write('a');
  socket.write('b');
  socket.cork();
  await turn();
  assert.deepEqual(writes, [1, 1]);
  assert.equal(socket.writableCorked, 1);
  socket.write('c');
  socket.write('d');
  await turn();
  await turn();
  assert.deepEqual(writes, [1, 1]);
  socket.uncork();
  assert.deepEqual(writes, [1, 1, 2]);
  await received.length(4);
  assert.equal(received.text(), 'abcd');
});

test('an uncork too many neither ends a hold nor a later cork', async (t) => {
  const { socket, writes } = await setUp(t);
  socket.uncork();
  socket.write('a');
  socket.write('b');
  socket.uncork();
  socket.uncork();
  assert.deepEqual(writes, [1]);
  socket.cork();
  socket.write('c');
  await turn();
  assert.equal(socket.writableCorked, 1);
  socket.uncork();
  assert.equal(socket.writableCorked, 0);
  socket.uncork();
  assert.equal(
    writes.reduce((sum, n) => sum + n, 0),
    3,
  );
});

test('a cork from before stays one', async (t) => {
  const { socket } = await openPair(t);
  socket.cork();
  socket.write('a');
  const coalescer = coalesce(socket);
  const writes = systemWrites(socket);
  socket.write('b');
  await turn();
  assert.deepEqual(writes, []);
  coalescer.off();
  assert.equal(socket.writableCorked, 1);
  socket.uncork();
  assert.deepEqual(writes, [2]);
});

test('an empty cork is not the first write', async (t) => {
  const { socket, writes } = await setUp(t);
  corked(socket);
  socket.write('a');
  assert.deepEqual(writes, [1]);
});

test('the bounds hold for what a cork has gathered', async (t) => {
  const { socket, writes } = await setUp(t, { maxPendingBytes: 4 });
  socket.write('0');
  corked(socket, 'a', 'b');
  assert.deepEqual(writes, [1]);
  corked(socket, 'c', 'd', 'e');
  assert.deepEqual(writes, [1, 5]);
  socket.write('0');
  corked(socket, Buffer.alloc(socket.writableHighWaterMark), 'f');
  assert.deepEqual(writes, [1, 5, 3]);
  assert.equal(socket.writableNeedDrain, true);
  await once(socket, 'drain');
});

test('flush leaves the corks of the application in place', async (t) => {
  const { socket, coalescer, writes } = await setUp(t);
  socket.write('a');
  socket.write('b');
  socket.cork();
  socket.cork();
  coalescer.flush();
  assert.deepEqual(writes, [1, 1]);
  assert.equal(socket.writableCorked, 2);
  socket.write('c');
  socket.uncork();
  assert.deepEqual(writes, [1, 1]);
  socket.uncork();
  await turn();
  assert.deepEqual(writes, [1, 1, 1]);
});

test('an HTTP server on coalesced sockets answers as ever', async (t) => {
  const server = createServer((incoming, response) => {
    response.write(`${incoming.url} `);
    response.write('and ');
    response.end('more');
  });
  server.on('connection', (socket) => coalesce(socket));
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const answers = range(20).map(
    (n) =>
      new Promise((resolve, reject) => {
        const { port } = server.address();
        request({ port, host: '127.0.0.1', path: `/${n}` }, (response) => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', (text) => {
            body += text;
          });
          response.on('end', () => resolve(body));
        })
          .on('error', reject)
          .end();
      }),
  );
  assert.deepEqual(
    await Promise.all(answers),
    range(20).map((n) => `/${n} and more`),
  );
});
