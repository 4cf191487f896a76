/** What a request that is turned away does to its connection: bodies that nobody reads, HEAD, HTTP/1.0, pipelining. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import {
  block,
  connect,
  connectAll,
  deferred,
  idle,
  patient,
  serve,
  serveFull,
  turn,
} from './wire.js';

const kB = 1024;

test('a small body is thrown away, and the connection used again', async (t) => {
  const { server, fill, handled } = await serveFull(t);
  const client = await connect(t, server);
  await fill(() => client.send('/shed', { method: 'POST', body: 'x'.repeat(64 * kB) }));
  const response = await client.response();
  assert.equal(response.status, 503);
  assert.notEqual(response.headers.connection, 'close');
  assert.equal(await client.send('/again').status(), 200);
  assert.deepEqual(handled, ['/running', '/waiting', '/again']);
});

test('a body of any size that is there already does not close the connection', async (t) => {
  // All of it has been read by the time the refusal is sent, be that only a moment later.
  const { server, fill } = await serveFull(t, { options: { rejectDelay: 1 } });
  const client = await connect(t, server);
  const body = 'x'.repeat(kB);
  await fill(() =>
    client.write(
      `POST /shed HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n${body}\r\n0\r\n\r\n`,
    ),
  );
  const response = await client.response();
  assert.equal(response.status, 503);
  assert.notEqual(response.headers.connection, 'close');
  assert.equal(await client.send('/again').status(), 200);
});

test('a large body, or one of unknown size, that is still to come closes the connection', async (t) => {
  for (const header of [`Content-Length: ${64 * kB + 1}`, 'Transfer-Encoding: chunked']) {
    const { server, fill, handled } = await serveFull(t);
    const client = await connect(t, server);
    await fill(() => client.write(`POST /shed HTTP/1.1\r\nHost: test\r\n${header}\r\n\r\n`));
    const response = await client.response();
    assert.equal(response.status, 503, header);
    assert.equal(response.headers.connection, 'close', header);
    await client.closed;
    assert.deepEqual(handled, ['/running', '/waiting'], header);
  }
});

test('a HEAD gets the headers only', async (t) => {
  const { server, fill } = await serveFull(t);
  const client = await connect(t, server);
  await fill(() => client.send('/shed', { method: 'HEAD' }));
  const { status, headers } = await client.response({ hasBody: false });
  assert.equal(status, 503);
  assert.equal(headers['content-length'], String('Service Unavailable'.length));
  assert.equal(await client.send('/again').status(), 200);
  assert.equal(client.text, '');
});

test('HTTP/1.0 gets a 503 and, as it has not asked for more, a closed connection', async (t) => {
  const { server, fill } = await serveFull(t);
  const [once, kept] = await connectAll(t, server, 2);
  await fill(() => {
    once.write('GET /shed HTTP/1.0\r\n\r\n');
    kept.write('GET /shed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  });
  assert.equal(await once.status(), 503);
  await once.closed;
  const response = await kept.response();
  assert.equal(response.status, 503);
  assert.equal(response.headers.connection, 'keep-alive');
  kept.write('GET /again HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  assert.equal(await kept.status(), 200);
});

test('answers to pipelined requests are in order, whoever is turned away', async (t) => {
  const { server } = await serve(t, (req, res) => {
    block();
    res.end(req.url);
  });
  const g = guard(server, { ...patient, maxQueue: 2 });
  t.after(() => g.close());
  const [busy, client] = await connectAll(t, server, 2);
  busy.send('/busy');
  // Two wait, and the two after them are turned away before those two have run.
  client.send('/1').send('/2').send('/3').send('/4');
  const answers = [];
  for (let i = 0; i < 4; i++) {
    const { status, body } = await client.response();
    answers.push([status, body]);
  }
  assert.deepEqual(answers, [
    [200, '/1'],
    [200, '/2'],
    [503, 'Service Unavailable'],
    [503, 'Service Unavailable'],
  ]);
  assert.equal(await client.send('/5').status(), 200);
});

test('one of higher class, pipelined after one of lower, is run first and answered second', async (t) => {
  const order = [];
  const { server } = await serve(t, (req, res) => {
    order.push(req.url);
    block();
    res.end(req.url);
  });
  const g = guard(server, { ...patient, classes: { '/high': 'high', '/low': 'low' } });
  t.after(() => g.close());
  const [busy, client] = await connectAll(t, server, 2);
  busy.send('/busy');
  client.send('/low').send('/high');
  assert.equal((await client.response()).body, '/low');
  assert.equal((await client.response()).body, '/high');
  assert.deepEqual(order, ['/busy', '/high', '/low']);
});

test('pipelined requests are over when they are answered, in whatever order', async (t) => {
  const responses = [];
  const { server } = await serve(t, (req, res) => void responses.push(res));
  const g = guard(server, patient);
  t.after(() => g.close());
  const client = await connect(t, server);
  client.send('/1').send('/2').send('/3');
  while (responses.length < 3) await idle();
  assert.equal(g.stats().inFlight, 3);
  for (const res of responses.reverse()) res.end(res.req.url);
  for (const path of ['/1', '/2', '/3']) assert.equal((await client.response()).body, path);
  await turn();
  assert.equal(g.stats().inFlight, 0);
});

test('pipelined requests whose client leaves are all given up', async (t) => {
  // No handler answers: the second's response never gets its connection.
  const seen = [];
  const { promise: all, resolve } = deferred();
  const { server } = await serve(t, (req, res) => {
    seen.push(req.url);
    if (req.url === '/busy') res.end();
    if (seen.length === 4) resolve();
    block();
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const [busy, client] = await connectAll(t, server, 2);
  busy.send('/busy');
  client.send('/1').send('/2').send('/3');
  await all;
  await turn();
  assert.equal(g.stats().inFlight, 3);
  const closed = new Promise((resolve) => client.serverSide.once('close', resolve));
  client.socket.resetAndDestroy();
  await closed;
  await turn();
  assert.equal(g.stats().inFlight, 0);
});

test('a response that somebody has begun meanwhile is left alone', async (t) => {
  const { server } = await serve(t, (req, res) => {
    block();
    res.end('handled');
  });
  const g = guard(server, { ...patient, maxQueue: 1, rejectDelay: 20 });
  t.after(() => g.close());
  // As a timeout of the application's own would.
  const { emit } = server;
  let begun;
  server.emit = function (event, ...args) {
    const result = emit.call(this, event, ...args);
    if (event === 'request' && args[0].url === '/shed') {
      begun = args[1];
      begun.writeHead(504, { 'Content-Length': 8 }).write('too ');
    }
    return result;
  };
  const clients = await connectAll(t, server, 3);
  clients[0].send('/1');
  clients[1].send('/2');
  clients[2].send('/shed');
  assert.equal(await clients[1].status(), 200);
  while (g.stats().rejectionsHeld > 0) await idle();
  begun.end('late');
  const { status, body } = await clients[2].response();
  assert.deepEqual([status, body], [504, 'too late']);
  assert.equal(await clients[2].send('/3').status(), 200);
  assert.equal(clients[2].text, '');
});
