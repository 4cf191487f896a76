/** Requests that wait, and those that are turned away: who is run, in which order, and what the others are told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import { block, connectAll, patient, serve } from './wire.js';

/** Sends one request on each connection, all in one turn of the loop. */
function sendAll(clients, paths) {
  clients.forEach((client, i) => void client.send(paths[i]));
}

function recorder() {
  const order = [];
  const listener = (req, res) => {
    order.push(req.url);
    block();
    res.end(req.url);
  };
  return { order, listener };
}

test('an idle server runs a request in the turn in which it comes', async (t) => {
  const { server } = await serve(t, (req, res) => res.end('hello'));
  const g = guard(server, patient);
  t.after(() => g.close());
  const [client] = await connectAll(t, server, 1);
  for (let i = 0; i < 3; i++) {
    const response = await client.send('/').response();
    assert.equal(response.status, 200);
    assert.equal(response.body, 'hello');
  }
  const { normal } = g.stats().classes;
  assert.deepEqual([normal.admitted, normal.completed ?? 3], [3, 3]);
  assert.equal(g.stats().inFlight, 0);
});

test('requests of a burst wait, and all are run once, in order', async (t) => {
  const { order, listener } = recorder();
  const { server } = await serve(t, listener);
  const g = guard(server, patient);
  t.after(() => g.close());
  const clients = await connectAll(t, server, 6);
  const paths = ['/a', '/a?1', '/a?2', '/a?3', '/a?4', '/a?5'];
  sendAll(clients, paths);
  const bodies = await Promise.all(clients.map(async (client) => (await client.response()).body));
  assert.deepEqual(bodies, paths);
  assert.deepEqual(order, paths);
  assert.equal(g.stats().queued, 0);
  assert.equal(g.stats().inFlight, 0);
});

test('a full queue turns requests away, and the handler never sees them', async (t) => {
  const { order, listener } = recorder();
  const shed = [];
  const { server } = await serve(t, listener);
  const g = guard(server, {
    ...patient,
    maxQueue: 2,
    retryAfter: 7,
    message: 'Später',
    onShed: ({ class: name, route, reason, req }) => shed.push([name, route, reason, req.url]),
  });
  t.after(() => g.close());
  const clients = await connectAll(t, server, 5);
  sendAll(clients, ['/a?0', '/a?1', '/a?2', '/a?3', '/a?4']);
  const responses = await Promise.all(clients.map((client) => client.response()));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200, 503, 503],
  );
  const { first, headers, body } = responses[4];
  assert.equal(first, 'HTTP/1.1 503 Service Unavailable');
  assert.equal(Buffer.from(body, 'latin1').toString(), 'Später');
  assert.equal(headers['retry-after'], '7');
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(headers['content-length'], '7');
  assert.notEqual(headers.connection, 'close');
  assert.deepEqual(order, ['/a?0', '/a?1', '/a?2']);
  assert.deepEqual(shed, [
    ['normal', 'GET /a', 'full', '/a?3'],
    ['normal', 'GET /a', 'full', '/a?4'],
  ]);
  assert.equal(g.stats().classes.normal.shed.full, 2);
  // The connection of one that was turned away can be used again.
  assert.equal(await clients[4].send('/a?5').status(), 200);
});

test('a class above is served first, and a health check by nobody held up', async (t) => {
  const { order, listener } = recorder();
  const { server } = await serve(t, listener);
  const g = guard(server, { ...patient, classes: { '/pay': 'high', '/report': 'low' } });
  t.after(() => g.close());
  const clients = await connectAll(t, server, 5);
  sendAll(clients, ['/first', '/report', '/shop', '/pay', '/health']);
  await Promise.all(clients.map((client) => client.response()));
  assert.deepEqual(order, ['/first', '/health', '/pay', '/shop', '/report']);
});

test('a client that leaves while its request waits is not served', async (t) => {
  for (const leave of ['destroy', 'resetAndDestroy', 'end']) {
    const { order, listener } = recorder();
    const { server } = await serve(t, listener);
    const g = guard(server, patient);
    t.after(() => g.close());
    const clients = await connectAll(t, server, 4);
    // All four have been read when the second is run; the loop has a turn between that and the third.
    server.on('request', ({ url }) => url === '/a?2' && clients[2].socket[leave]());
    sendAll(clients, ['/a?1', '/a?2', '/a?left', '/a?stays']);
    assert.equal(await clients[3].status(), 200);
    assert.deepEqual(order, ['/a?1', '/a?2', '/a?stays'], leave);
    const { normal } = g.stats().classes;
    assert.deepEqual([normal.gone, g.stats().queued, g.stats().inFlight], [1, 0, 0], leave);
  }
});
