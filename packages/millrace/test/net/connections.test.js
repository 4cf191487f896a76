/** Accepted connections in batches, over real sockets. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { connect, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { connect as connectTls, createServer as createTls } from 'node:tls';
import { batchConnections } from 'millrace/net';
import { WebSocketServer } from 'ws';
import ws6 from 'ws-6';
import ws7 from 'ws-7';
import { certificate } from '../ws/certificate.js';
import { collect, range } from './pair.js';

/** Leaves when so many connections wait, and not before. */
const whenFull = (maxBatch) => ({ policy: 'fixed', maxBatch, maxDelay: 60_000 });

/** Listens; the server and what its clients open end with the test. */
async function listen(t, server) {
  const sockets = new Set();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const track = (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  return { port, open: () => track(connect(port, '127.0.0.1')), track };
}

/** A handler that keeps its batches, and `full(n)`, which resolves when so many connections were handed over. */
function keep() {
  const batches = [];
  const waiting = [];
  const total = () => batches.reduce((sum, { length }) => sum + length, 0);
  return {
    batches,
    handler(connections) {
      batches.push(connections);
      for (const { n, resolve } of waiting) if (total() >= n) resolve();
    },
    full: (n) =>
      new Promise((resolve) => {
        if (total() >= n) resolve();
        else waiting.push({ n, resolve });
      }),
  };
}

/** Counts the events of each turn, by a listener of its own. */
function countTurns(server, event) {
  const turns = [];
  let isOpen = false;
  server.on(event, () => {
    if (!isOpen) {
      turns.push(0);
      setImmediate(() => {
        isOpen = false;
      });
    }
    isOpen = true;
    turns[turns.length - 1]++;
  });
  return turns;
}

const sizes = (batches) => batches.map(({ length }) => length);

const upgrade = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: x', '', ''].join(
  '\r\n',
);
const handshake = [
  ...['GET /chat HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
].join('\r\n');

/** A text frame of a client, with a mask of zeros. */
const frame = (text) =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

describe('batchConnections', () => {
  test('hands over each of 200 connections of a storm once, in order', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const came = [];
    server.on('connection', (socket) => came.push(socket));
    const turns = countTurns(server, 'connection');
    const { batches, handler, full } = keep();
    const { stats } = batchConnections(server, handler);
    const clients = range(200).map(open);
    await full(200);
    assert.deepEqual(sizes(batches), turns);
    const sockets = batches.flat().map(({ socket }) => socket);
    assert.deepEqual(sockets.length, 200);
    assert.ok(sockets.every((socket, i) => socket === came[i]));
    assert.equal(stats().batches, batches.length);
    for (const { socket } of batches.flat()) socket.end(`${socket.remotePort}`);
    for (const client of clients) {
      const received = collect(client);
      assert.equal(await received.ended, 'end');
      assert.equal(received.text(), `${client.localPort}`);
    }
  });

  test('makes one batch of the connections of one turn', async (t) => {
    const server = createServer();
    const { open } = await listen(
      t,
      createServer((socket) => held.push(socket)),
    );
    const held = [];
    const { batches, handler, full } = keep();
    batchConnections(server, handler);
    for (let i = 0; i < 3; i++) await once(open(), 'connect');
    while (held.length < 3) await new Promise((resolve) => setImmediate(resolve));
    // A program that takes connections elsewhere may do this.
    for (const socket of held) server.emit('connection', socket);
    assert.equal(batches.length, 0);
    await full(3);
    assert.deepEqual(batches, [held.map((socket) => ({ socket }))]);
  });

  test('waits for maxBatch connections, or until flush', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const { batches, handler, full } = keep();
    const held = batchConnections(server, handler, whenFull(3));
    for (let i = 0; i < 7; i++) {
      open();
      await once(server, 'connection');
    }
    await full(6);
    assert.deepEqual(sizes(batches), [3, 3]);
    assert.equal(held.stats().queued, 1);
    held.flush();
    assert.equal(batches[2].length, 1);
  });

  test('hands upgrade requests of one turn over together', async (t) => {
    const server = createHttp();
    const { open } = await listen(t, server);
    const turns = countTurns(server, 'upgrade');
    const { batches, handler, full } = keep();
    batchConnections(server, handler);
    const clients = [];
    for (let i = 0; i < 5; i++) {
      clients.push(open());
      await once(server, 'connection');
    }
    for (const [i, client] of clients.entries()) client.write(`${upgrade}head ${i}`);
    await full(5);
    assert.deepEqual(sizes(batches), turns);
    for (const { request, socket, head } of batches.flat()) {
      assert.equal(request.headers.upgrade, 'x');
      socket.end(head);
    }
    for (const [i, client] of clients.entries()) {
      const received = collect(client);
      assert.equal(await received.ended, 'end');
      assert.equal(received.text(), `head ${i}`);
    }
  });

  for (const [name, make, event] of [
    ['net', () => createServer(), 'connection'],
    ['tls', () => createTls(certificate()), 'secureConnection'],
  ]) {
    test(`keeps what a client of node:${name} sends before the handler is called`, async (t) => {
      const server = make();
      const { open, track, port } = await listen(t, server);
      const { batches, handler, full } = keep();
      batchConnections(server, handler, whenFull(2));
      const secure = () => track(connectTls({ port, rejectUnauthorized: false }));
      const opened = name === 'tls' ? secure : open;
      const came = once(server, event);
      opened().end('early');
      const [socket] = await came;
      while (!socket.readableLength) await once(socket, 'readable');
      assert.equal(batches.length, 0);
      socket.removeAllListeners('readable');
      opened();
      await full(2);
      const [first] = batches[0];
      assert.equal(first.socket, socket);
      const received = collect(first.socket);
      assert.equal(await received.ended, 'end');
      assert.equal(received.text(), 'early');
    });
  }

  test('gets the upgrades of an https server', async (t) => {
    const server = createHttps(certificate());
    const { port, track } = await listen(t, server);
    const { batches, handler, full } = keep();
    batchConnections(server, handler);
    const client = track(connectTls({ port, rejectUnauthorized: false }));
    client.write(upgrade);
    await full(1);
    const [{ request, socket }] = batches[0];
    assert.equal(request.headers.upgrade, 'x');
    assert.equal(socket.encrypted, true);
    socket.destroy();
  });

  for (const [name, make] of [
    ['net', () => createServer()],
    ['http', () => createHttp()],
  ]) {
    test(`hands over a socket of node:${name} that its client has reset, destroyed`, async (t) => {
      const server = make();
      const { open } = await listen(t, server);
      const { batches, handler, full } = keep();
      batchConnections(server, handler, whenFull(2));
      const send = (client) => {
        if (name === 'http') client.write(upgrade);
        return client;
      };
      const came = once(server, name === 'http' ? 'upgrade' : 'connection');
      const client = send(open());
      const socket = (await came).find((each) => each.remotePort !== undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      client.resetAndDestroy();
      await closed;
      send(open());
      await full(2);
      const [first, second] = batches[0];
      assert.equal(first.socket, socket);
      assert.equal(first.socket.destroyed, true);
      assert.equal(first.socket.errored.code, 'ECONNRESET');
      assert.equal(second.socket.destroyed, false);
    });
  }

  test('has no listener left on a socket when the handler is called', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const counts = [];
    server.on('connection', (socket) => counts.push(socket.listenerCount('error')));
    const seen = new Promise((resolve) => {
      batchConnections(server, ([{ socket }]) => resolve(socket.listenerCount('error')));
    });
    server.on('connection', (socket) => counts.push(socket.listenerCount('error')));
    open();
    assert.equal(await seen, 0);
    assert.deepEqual(counts, [0, 1]);
  });

  test('hands a waiting batch over after server.close()', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const { batches, handler, full } = keep();
    batchConnections(server, handler, { policy: 'fixed', maxDelay: 1 });
    open();
    await once(server, 'connection');
    const closed = once(server, 'close');
    server.close();
    await full(1);
    batches[0][0].socket.destroy();
    await closed;
  });

  test('takes a server before it listens, and again after it was closed', async (t) => {
    const server = createServer();
    const { batches, handler, full } = keep();
    batchConnections(server, handler);
    for (const n of [1, 2]) {
      const { open } = await listen(t, server);
      open();
      await full(n);
      batches[n - 1][0].socket.destroy();
      server.close();
      await once(server, 'close');
    }
    assert.equal(batches.length, 2);
  });

  test('stops at off, which hands over what waits', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const { batches, handler } = keep();
    const first = batchConnections(server, handler, whenFull(10));
    open();
    await once(server, 'connection');
    first.off();
    assert.equal(batches.length, 1);
    const later = keep();
    const second = batchConnections(server, later.handler);
    first.off();
    assert.throws(() => batchConnections(server, handler), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
    open();
    await later.full(1);
    second.off();
    assert.equal(server.listenerCount('connection'), 1);
    assert.equal(batches.length, 1);
  });

  test('may be stopped by its handler', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const kept = keep();
    const { off } = batchConnections(server, (connections) => {
      off();
      kept.handler(connections);
    });
    open();
    await kept.full(1);
    open();
    await once(server, 'connection');
    assert.equal(kept.batches.length, 1);
  });

  test('calls the handler inside the event under the policy direct', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const { batches, handler } = keep();
    batchConnections(server, handler, { policy: 'direct' });
    open();
    await once(server, 'connection');
    assert.equal(batches.length, 1);
  });

  test('calls the handler in the async context of the first connection', async (t) => {
    const server = createServer();
    const { open } = await listen(t, server);
    const context = new AsyncLocalStorage();
    let count = 0;
    server.on('connection', () => context.enterWith(++count));
    const seen = new Promise((resolve) => {
      batchConnections(server, () => resolve(context.getStore()), whenFull(2));
    });
    open();
    await once(server, 'connection');
    open();
    assert.equal(await seen, 1);
  });

  for (const [name, fails] of [
    ['throws', '() => { throw new Error("mine"); }'],
    ['rejects with', 'async () => { throw new Error("mine"); }'],
  ]) {
    test(`reports what the handler ${name} as an uncaught exception, and goes on`, async () => {
      const script = `
        import net from 'node:net';
        import { batchConnections } from 'millrace/net';
        const server = net.createServer().listen(0, '127.0.0.1', open);
        let count = 0;
        const fail = ${fails};
        batchConnections(server, ([{ socket }]) => {
          socket.destroy();
          if (++count === 1) return fail();
          console.log('went on');
          server.close();
        });
        process.on('uncaughtException', (error) => { console.log(error.message); open(); });
        function open() { net.connect(server.address().port, '127.0.0.1').on('error', () => {}); }`;
      const args = ['--input-type=module', '--eval', script];
      const child = spawn(process.execPath, args, { cwd: new URL('.', import.meta.url) });
      const output = collect(child.stdout);
      child.stderr.pipe(process.stderr);
      await once(child, 'close');
      assert.equal(output.text(), 'mine\nwent on\n');
    });
  }
});

describe('batchConnections of a WebSocketServer', () => {
  for (const [name, Server] of [
    ['ws 8', WebSocketServer],
    ['ws 7', ws7.Server],
    ['ws 6', ws6.Server],
  ]) {
    /** A server of this release; `open` is a client that has written the text after its handshake, in one piece. */
    async function serve(t) {
      const http = createHttp();
      const { open } = await listen(t, http);
      const server = new Server({ server: http });
      return {
        server,
        open(text) {
          const client = open();
          client.write(Buffer.concat([Buffer.from(handshake), frame(text)]));
          return client;
        },
      };
    }

    test(`hands over those of a turn with their requests: ${name}`, async (t) => {
      const { server, open } = await serve(t);
      const turns = countTurns(server, 'connection');
      const { batches, handler, full } = keep();
      batchConnections(server, handler);
      for (let i = 0; i < 5; i++) open(`${i}`);
      await full(5);
      assert.deepEqual(sizes(batches), turns);
      for (const { socket, request } of batches.flat()) {
        assert.equal(request.url, '/chat');
        assert.equal(socket.readyState, 1);
        assert.equal(socket.listenerCount('error'), 0);
      }
    });

    test(`keeps messages that come before the handler is called: ${name}`, async (t) => {
      const { server, open } = await serve(t);
      const { batches, handler, full } = keep();
      const messages = [];
      let left = 2;
      const got = new Promise((resolve) => {
        batchConnections(
          server,
          (connections) => {
            for (const { socket } of connections) {
              socket.on('message', (data) => {
                if (`${data}` !== 'last') messages.push(`${data}`);
                else if (--left === 0) resolve();
              });
            }
            handler(connections);
          },
          whenFull(2),
        );
      });
      const clients = [open('one')];
      await once(server, 'connection');
      // Turns in which the frame would have been read.
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(batches.length, 0);
      clients.push(open('two'));
      await full(2);
      for (const client of clients) client.write(frame('last'));
      await got;
      assert.deepEqual(messages.sort(), ['one', 'two']);
    });

    test(`hands over one whose client has left, which then closes: ${name}`, async (t) => {
      const { server, open } = await serve(t);
      const messages = [];
      const closed = new Promise((resolve) => {
        batchConnections(
          server,
          ([{ socket }]) => {
            socket.on('message', (data) => messages.push(`${data}`));
            socket.on('close', resolve);
          },
          whenFull(2),
        );
      });
      const came = once(server, 'connection');
      open('bye').end();
      await came;
      open('next');
      await closed;
      assert.deepEqual(messages, ['bye']);
    });

    test(`hands over one whose client has reset it, closed: ${name}`, async (t) => {
      const { server, open } = await serve(t);
      const { batches, handler, full } = keep();
      batchConnections(server, handler, whenFull(2));
      const came = once(server, 'connection');
      const client = open('bye');
      const [socket] = await came;
      const closed = once(socket, 'close');
      client.resetAndDestroy();
      await closed;
      open('next');
      await full(2);
      assert.equal(batches[0][0].socket, socket);
      assert.equal(socket.readyState, 3);
    });
  }

  test('leaves a socket paused that the handler pauses', async (t) => {
    const http = createHttp();
    const { open } = await listen(t, http);
    const server = new WebSocketServer({ server: http });
    const handed = new Promise((resolve) => {
      batchConnections(server, ([{ socket }]) => {
        assert.equal(socket.isPaused, false);
        socket.pause();
        resolve(socket);
      });
    });
    open().write(Buffer.concat([Buffer.from(handshake), frame('later')]));
    const socket = await handed;
    const message = once(socket, 'message');
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(socket.isPaused, true);
    socket.resume();
    assert.equal(`${(await message)[0]}`, 'later');
  });
});

describe('batchConnections refuses', () => {
  const refusal =
    (code, ...words) =>
    (error) => {
      assert.equal(error.code, code, error.message);
      for (const word of words) assert.ok(error.message.includes(word), error.message);
      return true;
    };
  const argument = (...words) => refusal('MILLRACE_E_INVALID_ARGUMENT', ...words);
  const option = (...words) => refusal('MILLRACE_E_INVALID_OPTION', ...words);

  test('anything but a server', () => {
    for (const [server, word] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [8080, '8080'],
      [{ on() {}, listen() {} }, 'an object'],
      [connect, 'a function'],
    ]) {
      assert.throws(
        () => batchConnections(server, () => {}),
        argument(word, 'must be a server of node:net'),
      );
    }
    assert.throws(() => batchConnections(createHttp2(), () => {}), argument('node:http2'));
  });

  test('anything but a handler, and bad options, and leaves the server alone', () => {
    const server = createServer();
    const none = () => {};
    assert.throws(() => batchConnections(server), argument('handler', 'undefined'));
    assert.throws(() => batchConnections(server, { maxDelay: 5 }), argument('an object'));
    for (const [options, ...words] of [
      [{ maxBatch: 0 }, "'maxBatch' is 0", 'from 1 to 1000000'],
      [{ maxDelay: -1 }, "'maxDelay' is -1"],
      [{ policy: 'eager' }, "'policy'", 'eager'],
      [{ maxQueue: 5 }, "'maxQueue'", 'known are'],
      [{ order: 'type' }, "'order'"],
      [null, 'must be an object'],
    ]) {
      assert.throws(() => batchConnections(server, none, options), option(...words));
    }
    assert.equal(server.listenerCount('connection'), 0);
    batchConnections(server, none).off();
  });

  test('a server twice', () => {
    const server = createServer();
    const { off } = batchConnections(server, () => {});
    assert.throws(() => batchConnections(server, () => {}), argument('batched already', 'off()'));
    off();
    batchConnections(server, () => {}).off();
  });
});
