/** Handlers and clients that misbehave: what the guard counts stays right, and others are served. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { guard } from '@millrace/guard';
import {
  block,
  connect,
  connectAll,
  deferred,
  idle,
  listen,
  patient,
  serve,
  turn,
} from './wire.js';

/** Nothing waits and nothing is under way; everything that came is accounted for. */
function assertAtRest(g, { admitted, shed = 0, gone = 0 }) {
  const { queued, inFlight, classes } = g.stats();
  const { normal } = classes;
  const shedInAll = Object.values(normal.shed).reduce((sum, count) => sum + count, 0);
  assert.deepEqual(
    { queued, inFlight, admitted: normal.admitted, shed: shedInAll, gone: normal.gone },
    { queued: 0, inFlight: 0, admitted, shed, gone },
  );
}

test('a handler that throws does so as without a guard, and those that wait go on', async () => {
  const program = fileURLToPath(new URL('throwing.js', import.meta.url));
  const run = async (arm) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, arm], {
      timeout: 600_000,
    });
    return JSON.parse(stdout);
  };
  const [plain, guarded] = await Promise.all([run('plain'), run('guarded')]);
  assert.deepEqual(plain.uncaught, ['first', 'third']);
  assert.deepEqual(guarded.uncaught, plain.uncaught);
  assert.deepEqual(guarded.statuses, plain.statuses);
  assert.deepEqual(guarded.handled, plain.handled);
  assert.deepEqual(guarded.stats, { queued: 0, inFlight: 0, admitted: 4 });
});

test('the rejection of an async handler comes to node:http where it is captured', async (t) => {
  EventEmitter.captureRejections = true;
  const server = http.createServer(async ({ url }, res) => {
    if (url !== '/busy') throw new Error('on purpose');
    block();
    res.end();
  });
  EventEmitter.captureRejections = false;
  await listen(t, server);
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 2);
  clients[0].send('/busy');
  clients[1].send('/rejects');
  assert.equal(await clients[1].status(), 500);
  await turn();
  assertAtRest(g, { admitted: 2 });
});

test('a handler that answers twice is counted once', async (t) => {
  const errors = [];
  const { server } = await serve(t, (req, res) => {
    res.on('error', (error) => errors.push(error.code));
    block();
    res.end('once');
    res.end('twice');
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 3);
  for (const client of clients) client.send('/');
  for (const client of clients) assert.equal((await client.response()).body, 'once');
  assert.deepEqual(errors, Array(3).fill('ERR_STREAM_WRITE_AFTER_END'));
  await turn();
  assertAtRest(g, { admitted: 3 });
});

test('requests that are never answered hold nobody up, and are over when their clients leave', async (t) => {
  const { server } = await serve(t, (req, res) => {
    if (req.url !== '/never') setImmediate(() => res.end('answered'));
  });
  // As many as may be under way at once.
  const g = guard(server, { ...patient, concurrency: { initial: 4 } });
  t.after(() => g.close());
  const clients = await connectAll(t, server, 40);
  for (const client of clients) client.send('/never');
  const other = await connect(t, server);
  assert.equal((await other.send('/answered').response()).body, 'answered');
  while (g.stats().queued > 0) await idle();
  assert.equal(g.stats().inFlight, 40);
  for (const client of clients) client.socket.destroy();
  while (g.stats().inFlight > 0) await idle();
  assertAtRest(g, { admitted: 41 });
});

test('many clients that send their bodies byte by byte, or never, take nothing from one that does not', async (t) => {
  const { server } = await serve(t, async (req, res) => {
    let length = 0;
    try {
      for await (const chunk of req) length += chunk.length;
    } catch {
      return; // its client has left
    }
    res.end(String(length));
  });
  const g = guard(server, { ...patient, concurrency: { initial: 2 } });
  t.after(() => g.close());
  server.on('clientError', (error, socket) => socket.destroy());
  const slow = await connectAll(t, server, 60);
  const request = 'POST /upload HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n';
  slow.forEach((client, i) => {
    // A third has not sent all of its headers, a third nothing of its body, a third a byte.
    client.write(request);
    if (i % 3 > 0) client.write('\r\n');
    if (i % 3 > 1) client.write('x');
  });
  const other = await connect(t, server);
  for (let i = 0; i < 5; i++) {
    const { status, body } = await other
      .send('/upload', { method: 'POST', body: 'all of it' })
      .response();
    assert.deepEqual([status, body], [200, '9']);
  }
  // Then they go on, some of them to the end.
  for (const [i, client] of slow.entries()) if (i % 3 === 2) client.write('x'.repeat(9));
  for (const [i, client] of slow.entries()) {
    if (i % 3 === 2) assert.equal((await client.response()).body, '10');
  }
  assert.equal(g.stats().inFlight, 20);
  const { admitted } = g.stats().classes.normal;
  assert.equal(admitted, 45);
});

test('a handler that blocks for two seconds: nobody is lost', async (t) => {
  let handled = 0;
  const { server } = await serve(t, (req, res) => {
    handled++;
    if (req.url === '/blocks') block(2000);
    res.end();
  });
  // Times as they are by default: those behind it may be turned away, and hear so.
  const g = guard(server);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 20);
  clients.forEach((client, i) => void client.send(i === 0 ? '/blocks' : '/quick'));
  const statuses = await Promise.all(clients.map((client) => client.status()));
  const good = statuses.filter((status) => status === 200).length;
  const refused = statuses.filter((status) => status === 503).length;
  assert.equal(good + refused, 20);
  assert.equal(handled, good);
  assert.equal(statuses[0], 200);
  await turn();
  assertAtRest(g, { admitted: good, shed: refused });
});

test('a server that is closed still serves those who wait', async (t) => {
  const { server } = await serve(t, (req, res) => {
    // All of them have been read by then.
    if (req.url === '/2') server.close();
    block();
    res.end(req.url);
  });
  const closed = once(server, 'close');
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 4);
  clients.forEach((client, i) => void client.send(`/${i + 1}`));
  for (const [i, client] of clients.entries()) {
    assert.equal((await client.response()).body, `/${i + 1}`);
    client.socket.end();
  }
  await closed;
  assertAtRest(g, { admitted: 4 });
});

test('closeAllConnections() ends those who wait as well', async (t) => {
  const { promise: second, resolve } = deferred();
  const { server } = await serve(t, (req, res) => {
    if (req.url === '/2') {
      server.closeAllConnections();
      resolve();
    }
    block();
    res.end(req.url);
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 5);
  clients.forEach((client, i) => void client.send(`/${i + 1}`));
  await second;
  for (const client of clients.slice(1))
    await assert.rejects(client.response(), /connection closed/);
  while (g.stats().queued + g.stats().inFlight > 0) await idle();
  assertAtRest(g, { admitted: 2, gone: 3 });
});

test('a guard that is closed lets those who wait run, and answers those it had turned away', async (t) => {
  const order = [];
  const { server } = await serve(t, (req, res) => {
    order.push(req.url);
    if (req.url === '/2') g.close();
    block();
    res.end(req.url);
  });
  const g = guard(server, { ...patient, maxQueue: 2, rejectDelay: 60_000 });
  const clients = await connectAll(t, server, 4);
  clients.forEach((client, i) => void client.send(`/${i + 1}`));
  const statuses = await Promise.all(clients.map((client) => client.status()));
  assert.deepEqual(statuses, [200, 200, 200, 503]);
  assert.deepEqual(order, ['/1', '/2', '/3']);
  assert.equal(Object.hasOwn(server, 'emit'), false);
  assert.equal(await clients[3].send('/5').status(), 200);
});

test('bodies that come while a request waits are all there when it is run', async (t) => {
  const size = 1024 * 1024;
  const { server } = await serve(t, (req, res) => {
    if (req.url === '/busy') {
      block();
      res.end();
      return;
    }
    res.writeHead(200, { 'Content-Length': size });
    req.pipe(res);
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const [busy, ...uploads] = await connectAll(t, server, 4);
  busy.send('/busy');
  const body = Array.from({ length: size / 16 }, (_, i) => String(i).padStart(16)).join('');
  for (const client of uploads) client.send('/echo', { method: 'POST', body });
  for (const client of uploads) assert.ok((await client.response()).body === body);
  await turn();
  assertAtRest(g, { admitted: 4 });
});

test('a client that leaves in the middle of its body, while it waits, is given up', async (t) => {
  const handled = [];
  const { server } = await serve(t, (req, res) => {
    handled.push(req.url);
    block();
    res.end();
    if (req.url === '/2') clients[2].socket.resetAndDestroy();
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 4);
  clients[0].send('/1');
  clients[1].send('/2');
  clients[2].write(`POST /left HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\nsome`);
  clients[3].send('/4');
  await clients[3].response();
  assert.deepEqual(handled, ['/1', '/2', '/4']);
  await turn();
  assertAtRest(g, { admitted: 3, gone: 1 });
});
