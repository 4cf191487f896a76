/** The server of probes: its responses, and clients that send nothing, send too much or do not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, test } from 'node:test';
import probes from '../dist/probe-server.cjs';

const host = '127.0.0.1';
const paths = ['/live', '/ready', '/metrics'];
const most = 64;

/** A server that listens, with such a function for its answers. */
async function serve(t, answer = (path) => ({ status: 200, body: `${path}\n` })) {
  const server = new probes.ProbeServer(paths, answer);
  assert.equal(await server.listen({ host, port: 0 }), null);
  t.after(() => server.close());
  return server;
}

/** Makes a request on a connection of its own. */
function ask({ port }, path, options = {}) {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path, agent: false, ...options }, async (response) => {
      response.setEncoding('utf8');
      let text = '';
      try {
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode, headers: response.headers, text });
      } catch (error) {
        reject(error);
      }
    });
    asked.on('error', reject).end();
  });
}

/** A connection, once the server can accept it. `closed` resolves with the bytes that have come when it is over. */
async function open(t, { port }) {
  const socket = connect(port, host);
  t.after(() => socket.destroy());
  let bytes = 0;
  socket.on('data', ({ length }) => {
    bytes += length;
  });
  // A connection that the server ends may be reset.
  const closed = new Promise((resolve) => socket.once('close', () => resolve(bytes)));
  await once(socket, 'connect');
  socket.on('error', () => {});
  return { socket, closed, get: (path) => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`) };
}

describe('ProbeServer', () => {
  test('responds to GET with the answer, which is not to be stored, and closes the connection', async (t) => {
    const server = await serve(t, async (path) =>
      path === '/metrics'
        ? { status: 200, body: 'é 1\n', type: 'text/plain; version=0.0.4' }
        : { status: 503, body: 'blocked\n' },
    );
    const { status, headers, text } = await ask(server, '/metrics?all');
    assert.deepEqual([status, text], [200, 'é 1\n']);
    const { date, ...others } = headers;
    assert.deepEqual(others, {
      'content-type': 'text/plain; version=0.0.4',
      'content-length': '5',
      'cache-control': 'no-store',
      [probes.pidHeader]: String(process.pid),
      connection: 'close',
    });
    const live = await ask(server, '/live');
    assert.deepEqual([live.status, live.text], [503, 'blocked\n']);
    assert.equal(live.headers['content-type'], 'text/plain; charset=utf-8');
  });

  test('responds to HEAD with the same headers, without the body', async (t) => {
    const server = await serve(t);
    const { status, headers, text } = await ask(server, '/live', { method: 'HEAD' });
    assert.deepEqual([status, headers['content-length'], text], [200, '6', '']);
  });

  test('allows no other method', async (t) => {
    const server = await serve(t, () => assert.fail('it was called'));
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers, text } = await ask(server, '/live', { method });
      assert.deepEqual([status, headers.allow, text], [405, 'GET, HEAD', 'only GET and HEAD\n']);
    }
  });

  test('names its paths where there is no such path', async (t) => {
    const server = await serve(t, () => assert.fail('it was called'));
    for (const path of ['/', '/other', '/live/', '//live', '/toString']) {
      const { status, text } = await ask(server, path);
      assert.deepEqual([status, text], [404, 'there are /live, /ready and /metrics\n'], path);
    }
  });

  test('may be read by pages of this machine, and by no others', async (t) => {
    const server = await serve(t);
    const allowed = async (origin) => {
      const { headers } = await ask(server, '/live', { headers: { origin } });
      return headers['access-control-allow-origin'];
    };
    for (const origin of ['http://127.0.0.1:7117', 'http://localhost']) {
      assert.equal(await allowed(origin), origin);
    }
    for (const origin of ['http://example.com', 'http://localhost.example.com', 'null']) {
      assert.equal(await allowed(origin), undefined);
    }
  });

  test('responds with the error of its function, and goes on', async (t) => {
    let isBroken = true;
    const server = await serve(t, async () => {
      if (isBroken) throw new Error('out of order');
      return { status: 200, body: '' };
    });
    const { status, text } = await ask(server, '/live');
    assert.deepEqual([status, text], [500, 'out of order\n']);
    isBroken = false;
    assert.equal((await ask(server, '/live')).status, 200);
  });

  test('goes on when a connection cannot be accepted', async (t) => {
    const server = await serve(t);
    server.http.emit('error', new Error('accept EMFILE'));
    assert.equal((await ask(server, '/live')).status, 200);
  });

  test('says that its port is taken, and can be closed', async (t) => {
    const other = createServer().listen(0, host);
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = other.address();
    const server = new probes.ProbeServer(paths, () => assert.fail('it was called'));
    const why = `probes cannot listen on ${host}:${port}: the port is taken; choose another one`;
    assert.equal(await server.listen({ host, port }), why);
    assert.equal(server.port, null);
    await server.close();
  });

  test('ends its connections when it is closed, also a second time', async (t) => {
    const asked = resolvers();
    // An answer that never comes.
    const server = await serve(t, () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const idle = await open(t, server);
    const waiting = await open(t, server);
    waiting.get('/live');
    // The older connection was accepted before.
    await asked.promise;
    await Promise.all([server.close(), server.close()]);
    assert.equal(server.port, null);
    assert.deepEqual(await Promise.all([idle.closed, waiting.closed]), [0, 0]);
  });
});

/** A server whose metrics are `body`, and a client that has asked for them and reads nothing yet. */
async function readingSlowly(t, body) {
  const asked = resolvers();
  const server = await serve(t, (path) => {
    if (path === '/metrics') asked.resolve();
    return { status: 200, body: path === '/metrics' ? body : '' };
  });
  const slow = await open(t, server);
  slow.socket.pause();
  slow.get('/metrics');
  await asked.promise;
  return { server, slow };
}

describe('a client of a ProbeServer', () => {
  test('that reads slowly keeps no other waiting, and gets everything', async (t) => {
    const body = 'x'.repeat(16 * 2 ** 20);
    const { server, slow } = await readingSlowly(t, body);
    assert.equal((await ask(server, '/live')).status, 200);
    slow.socket.resume();
    assert.ok((await slow.closed) > body.length);
  });

  test('gets one response on a connection', async (t) => {
    let calls = 0;
    const server = await serve(t, () => {
      calls++;
      return { status: 200, body: '' };
    });
    const { socket, closed } = await open(t, server);
    socket.write('GET /live HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10));
    await closed;
    assert.equal(calls, 1);
  });

  test('that holds the oldest of too many connections loses it, and no other one does', async (t) => {
    // More than the kernel takes of it.
    const body = 'x'.repeat(64 * 2 ** 20);
    const { server, slow } = await readingSlowly(t, body);
    const silent = await Promise.all(Array.from({ length: most - 1 }, () => open(t, server)));
    assert.equal((await ask(server, '/live')).status, 200);
    slow.socket.resume();
    assert.ok((await slow.closed) < body.length);
    for (const { get } of silent) get('/live');
    for (const { closed } of silent) assert.ok((await closed) > 0);
  });

  test('that sends anything but HTTP, or too long a head, is ended', async (t) => {
    const server = await serve(t);
    for (const text of ['SSH-2.0-OpenSSH_9.2\r\n', `GET /live HTTP/1.1\r\nx: ${'x'.repeat(1e5)}`]) {
      const { socket, closed } = await open(t, server);
      socket.write(text);
      await closed;
    }
  });
});

function resolvers() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
