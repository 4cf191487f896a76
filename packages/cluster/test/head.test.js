/** How long the primary waits for the head of a request. The clock is the test's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { mock, test } from 'node:test';

// The cluster takes its timers when it is loaded: those of a test would not reach it.
mock.timers.enable({ apis: ['setTimeout'] });
const { readHead } = await import('../dist/sticky.js');
mock.timers.reset();

/** A client, and what was read of it. */
async function connected(t) {
  const read = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    t.after(() => socket.destroy());
    const finish = readHead(socket, (bytes, head) => {
      read.push([bytes?.toString() ?? null, head]);
      server.emit('read');
    });
    server.emit('reads', socket, finish);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(server.address().port, '127.0.0.1');
  t.after(() => client.destroy());
  t.after(() => server.close());
  const [socket, finish] = await once(server, 'reads');
  return { client, socket, finish, read, done: () => once(server, 'read') };
}

function clock(t) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  return (ms) => mock.timers.tick(ms);
}

test('a browser may connect long before it asks', async (t) => {
  const tick = clock(t);
  const { client, read, done } = await connected(t);
  tick(59_000);
  assert.deepEqual(read, []);
  const whole = 'GET / HTTP/1.1\r\nX-Id: 1\r\n\r\nbody';
  client.write(whole);
  await done();
  assert.deepEqual(read, [[whole, 'GET / HTTP/1.1\r\nX-Id: 1']]);
});

test('a client that sends nothing for a minute has no head', async (t) => {
  const tick = clock(t);
  const { read } = await connected(t);
  tick(60_000);
  assert.deepEqual(read, [['', '']]);
});

test('a client that has begun has 5 s', async (t) => {
  const tick = clock(t);
  const { client, socket, read } = await connected(t);
  client.write('GET /');
  await once(socket, 'data');
  tick(4999);
  assert.deepEqual(read, []);
  tick(1);
  assert.deepEqual(read, [['GET /', '']]);
});

test('it ends at once, with what there is', async (t) => {
  const { client, socket, finish, read } = await connected(t);
  client.write('GET /');
  await once(socket, 'data');
  finish();
  assert.deepEqual(read, [['GET /', '']]);
});
