/** guard(server): which servers, together with whom, and how it is given back. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { Guard, guard } from '@millrace/guard';
import { certificate } from '../../../millrace/test/ws/certificate.js';
import {
  block,
  connect,
  connectAll,
  deferred,
  enduring,
  idle,
  listen,
  patient,
  serve,
  turn,
} from './wire.js';

const admitted = (g) => g.stats().classes.normal.admitted;

function hello(req, res) {
  res.end('hello');
}

test('listeners may come before the guard or after it', async (t) => {
  const { server } = await serve(t, undefined);
  const seen = [];
  server.on('request', () => seen.push('before'));
  const g = guard(server, patient);
  t.after(() => g.close());
  server.on('request', (req, res) => {
    seen.push('after');
    res.end();
  });
  const client = await connect(t, server);
  assert.equal(await client.send('/').status(), 200);
  assert.deepEqual(seen, ['before', 'after']);
});

test('close() gives the server back as it was', async (t) => {
  const { server } = await serve(t, hello);
  const names = Reflect.ownKeys(server);
  const events = server.eventNames();
  const g = guard(server);
  assert.notEqual(server.emit, http.Server.prototype.emit);
  g.close();
  g.close();
  assert.equal(server.emit, http.Server.prototype.emit);
  assert.deepEqual(Reflect.ownKeys(server), names);
  assert.deepEqual(server.eventNames(), events);
  const client = await connect(t, server);
  assert.equal(await client.send('/').status(), 200);
  assert.equal(admitted(g), 0);
  const next = guard(server);
  t.after(() => next.close());
  assert.equal(await client.send('/').status(), 200);
  assert.equal(admitted(next), 1);
});

test('a server has one guard; a guard may have many servers', async (t) => {
  const [one, two] = [await serve(t, hello), await serve(t, hello)];
  const g = new Guard(patient);
  assert.equal(guard(one.server, g), g);
  assert.equal(guard(one.server, g), g);
  assert.equal(guard(two.server, g), g);
  for (const options of [undefined, {}, new Guard()]) {
    assert.throws(() => guard(one.server, options), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: 'this server has a guard already; close() that one before you give it another',
    });
  }
  for (const { server } of [one, two]) {
    const client = await connect(t, server);
    assert.equal(await client.send('/').status(), 200);
  }
  assert.equal(admitted(g), 2);
  g.close();
  for (const { server } of [one, two]) assert.equal(Object.hasOwn(server, 'emit'), false);
});

test('anything but a server, and a closed guard, is refused', () => {
  const closed = new Guard();
  closed.close();
  const server = http.createServer();
  assert.throws(() => guard(server, closed), { code: 'MILLRACE_E_CLOSED' });
  for (const value of [undefined, null, 'server', 80, {}, new EventEmitter(), net.createServer()]) {
    assert.throws(() => guard(value), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /^guard\(\) takes a server of node:http, node:https or node:http2, not /,
    });
  }
  const application = (req, res) => res.end();
  assert.throws(() => guard(application), { message: /not a function; .* createServer\(app\)$/ });
  assert.throws(() => guard(server, { maxWait: Number.NaN }), {
    code: 'MILLRACE_E_INVALID_OPTION',
  });
  assert.equal(Object.hasOwn(server, 'emit'), false);
  assert.equal(server.listenerCount('checkContinue'), 0);
});

test('other events pass, with all that they carry', async () => {
  const server = http.createServer();
  const g = guard(server);
  const seen = [];
  const event = Symbol('event');
  server.on(event, function (...args) {
    seen.push([this === server, ...args]);
  });
  assert.equal(server.emit(event, 1, undefined, 3, 4, 5), true);
  assert.equal(server.emit(event), true);
  assert.equal(server.emit('nobody', 1), false);
  assert.deepEqual(seen, [[true, 1, undefined, 3, 4, 5], [true]]);
  assert.throws(() => server.emit('error', new Error('on purpose')), /on purpose/);
  g.close();
});

/** As instrumentation does it: notes what passes, and passes it on. */
function patch(target, seen, name) {
  const { emit } = target;
  target.emit = function (event, ...args) {
    if (event === 'request') seen.push(name);
    return emit.call(this, event, ...args);
  };
}

test('emit that was replaced before, after, or on the prototype sees each request once', async (t) => {
  const seen = [];
  const { server } = await serve(t, hello);
  const original = Object.getOwnPropertyDescriptor(http.Server.prototype, 'emit');
  t.after(() => {
    delete http.Server.prototype.emit;
    if (original) Object.defineProperty(http.Server.prototype, 'emit', original);
  });
  patch(server, seen, 'inside');
  const inside = server.emit;
  const g = guard(server, patient);
  patch(server, seen, 'outside');
  const outside = server.emit;
  const client = await connect(t, server);
  assert.equal(await client.send('/').status(), 200);
  assert.deepEqual(seen.splice(0), ['outside', 'inside']);
  g.close();
  // Somebody else's is on top: it stays, and what is below it only passes events on.
  assert.equal(server.emit, outside);
  assert.equal(await client.send('/').status(), 200);
  assert.deepEqual(seen.splice(0), ['outside', 'inside']);
  assert.equal(admitted(g), 1);
  server.emit = inside;

  const other = await serve(t, hello);
  const second = guard(other.server, patient);
  t.after(() => second.close());
  patch(http.Server.prototype, seen, 'prototype');
  const next = await connect(t, other.server);
  assert.equal(await next.send('/').status(), 200);
  assert.deepEqual(seen, ['prototype']);
});

test('a handler that had to wait sees the async context in which its request came', async (t) => {
  const storage = new AsyncLocalStorage();
  const { server } = await serve(t, (req, res) => {
    block();
    res.end(storage.getStore());
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  // As tracing does it.
  const { emit } = server;
  server.emit = function (event, ...args) {
    if (event !== 'request') return emit.call(this, event, ...args);
    return storage.run(`trace of ${args[0].url}`, () => emit.call(this, event, ...args));
  };
  const clients = await connectAll(t, server, 3);
  for (const [i, client] of clients.entries()) client.send(`/${i}`);
  for (const [i, client] of clients.entries()) {
    assert.equal((await client.response()).body, `trace of /${i}`);
  }
});

test('the guard learns of each connection', async (t) => {
  const { server } = await serve(t, hello);
  const g = guard(server, patient);
  t.after(() => g.close());
  const notice = t.mock.method(g, 'noticeConnection');
  await connectAll(t, server, 3);
  assert.equal(notice.mock.callCount(), 3);
});

test('a request that a listener emits again is not made to wait again', async (t) => {
  const { server: inner } = await serve(t, hello);
  const { server: outer } = await serve(t, (req, res) => {
    if (req.url === '/redirected') inner.emit('request', req, res);
    else {
      req.url = '/redirected';
      outer.emit('request', req, res);
    }
  });
  const guards = [guard(outer, patient), guard(inner, patient)];
  t.after(() => {
    for (const g of guards) g.close();
  });
  const client = await connect(t, outer);
  assert.equal((await client.send('/').response()).body, 'hello');
  assert.deepEqual(guards.map(admitted), [1, 0]);
});

test('https, keep-alive and in a burst', async (t) => {
  const server = https.createServer({ ...enduring, ...certificate() }, (req, res) => {
    block();
    res.end(req.url);
  });
  const port = await listen(t, server);
  const g = guard(server, { ...patient, maxQueue: 2 });
  t.after(() => g.close());
  const clients = [];
  for (let i = 0; i < 4; i++) {
    const socket = tls.connect({ port, rejectUnauthorized: false });
    t.after(() => socket.destroy());
    await once(socket, 'secureConnect');
    clients.push(socket.setEncoding('latin1'));
  }
  await idle();
  const answers = clients.map((socket, i) => {
    socket.write(`GET /${i} HTTP/1.1\r\nHost: test\r\n\r\n`);
    return once(socket, 'data');
  });
  const statuses = (await Promise.all(answers)).map(([text]) => text.split(' ')[1]);
  assert.deepEqual(statuses, ['200', '200', '200', '503']);
  clients[3].write('GET /again HTTP/1.1\r\nHost: test\r\n\r\n');
  assert.match((await once(clients[3], 'data'))[0], /^HTTP\/1.1 200 /);
});

/** Status and body of one request over HTTP/2. */
function fetch2(session, headers, body) {
  const stream = session.request(headers);
  const { promise, resolve, reject } = deferred();
  let status;
  let text = '';
  stream.on('response', (received) => {
    status = received[':status'];
  });
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  stream.on('end', () => resolve([status, text])).on('error', reject);
  stream.end(body);
  return { stream, promise };
}

test('http2, and http/1.1 on the same server', async (t) => {
  const order = [];
  const warnings = [];
  const onWarning = ({ name, message }) => warnings.push(`${name}: ${message}`);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const options = { ...certificate(), allowHTTP1: true };
  const server = http2.createSecureServer(options, (req, res) => {
    order.push(req.url);
    if (req.url === '/2') left.stream.close();
    block();
    res.end(req.url);
  });
  const port = await listen(t, server);
  const g = guard(server, { ...patient, maxQueue: 4 });
  t.after(() => g.close());
  const session = http2.connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  await once(session, 'connect');
  await idle();
  const get = (path) => fetch2(session, { ':path': path });
  const first = [get('/1'), get('/2')];
  const left = get('/left');
  left.promise.catch(() => {});
  const body = Buffer.alloc(100_000);
  const headers = { ':path': '/7', ':method': 'POST', 'content-length': body.length };
  const rest = [get('/4'), get('/5'), get('/6'), fetch2(session, headers, body)];
  const answers = await Promise.all([...first, ...rest].map(({ promise }) => promise));
  assert.deepEqual(answers, [
    [200, '/1'],
    [200, '/2'],
    [200, '/4'],
    [200, '/5'],
    [503, 'Service Unavailable'],
    [503, 'Service Unavailable'],
  ]);
  assert.deepEqual(order, ['/1', '/2', '/4', '/5']);
  await turn();
  const { queued, inFlight, classes } = g.stats();
  const { normal } = classes;
  assert.deepEqual(
    [queued, inFlight, normal.admitted, normal.gone, normal.shed.full],
    [0, 0, 4, 1, 2],
  );
  assert.deepEqual(warnings, []);

  const agent = new https.Agent({ rejectUnauthorized: false });
  t.after(() => agent.destroy());
  const [response] = await once(https.get({ port, agent, path: '/8' }), 'response');
  response.resume();
  assert.equal(response.statusCode, 200);
  assert.equal(admitted(g), 5);
});
