/** Upgrades: the handshake takes its turn, and is turned away, like any request. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import { WebSocket, WebSocketServer } from 'ws';
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

const upgrading = { headers: { Connection: 'Upgrade', Upgrade: 'test' } };
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n';

/** A server that upgrades to an echo; each handshake and request holds the loop. */
async function serveEcho(t, options) {
  const order = [];
  const { server } = await serve(t, (req, res) => {
    order.push(req.url);
    block();
    res.end(req.url);
  });
  server.on('upgrade', (req, socket, head) => {
    order.push(req.url);
    block();
    socket.on('error', () => {});
    socket.write(switching);
    socket.write(head);
    socket.pipe(socket);
  });
  const g = guard(server, options);
  t.after(() => g.close());
  return { server, guard: g, order };
}

const echoes = (client, text) => client.until(() => client.text.endsWith(text));

test('a handshake runs at once on an idle server, and waits on a busy one', async (t) => {
  const { server, guard: g, order } = await serveEcho(t, patient);
  const [first, busy, second] = await connectAll(t, server, 3);
  first.send('/first', upgrading).write('head');
  await echoes(first, `${switching}head`);
  busy.send('/busy');
  // What comes with the handshake and after it, while it waits, is not lost.
  second.send('/second', upgrading).write('head, ');
  await busy.response();
  second.write('more');
  await echoes(second, `${switching}head, more`);
  assert.deepEqual(order, ['/first', '/busy', '/second']);
  // Connections that stay open are no requests under way.
  assert.equal(g.stats().inFlight, 0);
  assert.equal(g.stats().classes.normal.admitted, 3);
});

test('it is turned away with a 503, and its connection closed', async (t) => {
  const {
    server,
    guard: g,
    order,
  } = await serveEcho(t, { ...patient, maxQueue: 1, retryAfter: 3 });
  const clients = await connectAll(t, server, 2);
  // This one does not close its side, which is not waited for.
  const open = (port) => net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(await connect(t, server, open));
  const closed = once(clients[2].serverSide, 'close');
  clients[0].send('/busy');
  clients[1].send('/waits', upgrading);
  clients[2].send('/shed', upgrading);
  const response = await clients[2].response();
  assert.equal(response.first, 'HTTP/1.1 503 Service Unavailable');
  assert.equal(response.body, 'Service Unavailable');
  assert.equal(response.headers['retry-after'], '3');
  assert.equal(response.headers.connection, 'close');
  await closed;
  await echoes(clients[1], switching);
  assert.deepEqual(order, ['/busy', '/waits']);
  assert.equal(g.stats().classes.normal.shed.full, 1);
});

test('no cache is asked to answer it', async (t) => {
  const { server, guard: g } = await serveEcho(t, { ...patient, maxQueue: 1 });
  const asked = [];
  g.caches.add({ answer: ({ url }) => asked.push(url) < 0 });
  const clients = await connectAll(t, server, 4);
  clients[0].send('/busy');
  clients[1].send('/waits');
  clients[2].send('/page');
  clients[3].send('/live', upgrading);
  assert.equal(await clients[2].status(), 503);
  assert.equal(await clients[3].status(), 503);
  assert.deepEqual(asked, ['/page']);
});

test('it has a class of its own', async (t) => {
  const { server, order } = await serveEcho(t, { ...patient, classes: { '/live': 'high' } });
  const clients = await connectAll(t, server, 3);
  clients[0].send('/busy');
  clients[1].send('/page');
  clients[2].send('/live', upgrading);
  await clients[1].response();
  assert.deepEqual(order, ['/busy', '/live', '/page']);
});

test('a client that resets its connection while its handshake waits ends nothing', async (t) => {
  const { server, guard: g, order } = await serveEcho(t, patient);
  const clients = await connectAll(t, server, 4);
  server.on('request', ({ url }) => url === '/2' && clients[2].socket.resetAndDestroy());
  clients[0].send('/1');
  clients[1].send('/2');
  clients[2].send('/left', upgrading);
  clients[3].send('/3');
  await clients[3].response();
  assert.deepEqual(order, ['/1', '/2', '/3']);
  assert.equal(g.stats().classes.normal.gone, 1);
});

test('and the application hears of a reset once the handshake is its own', async (t) => {
  const { server } = await serve(t, (req, res) => res.end());
  const g = guard(server, patient);
  t.after(() => g.close());
  const { promise, resolve } = deferred();
  server.on('upgrade', (req, socket) => {
    assert.equal(socket.listenerCount('error'), 0);
    socket.on('error', resolve);
    socket.write(switching);
  });
  const client = await connect(t, server);
  client.send('/', upgrading);
  await echoes(client, switching);
  client.socket.resetAndDestroy();
  assert.equal((await promise).code, 'ECONNRESET');
});

test('a server of ws works, idle and busy', async (t) => {
  const server = http.createServer(enduring, (req, res) => {
    block();
    res.end();
  });
  const port = await listen(t, server);
  const wss = new WebSocketServer({ server });
  t.after(() => wss.close());
  wss.on('connection', (ws) => ws.on('message', (data) => ws.send(`echo ${data}`)));
  const g = guard(server, { ...patient, maxQueue: 2 });
  t.after(() => g.close());
  const open = (options) => {
    const ws = new WebSocket(`ws://127.0.0.1:${port}`, options);
    // It is in the middle of its handshake when the last one is ended.
    ws.on('error', () => {});
    t.after(() => ws.terminate());
    return ws;
  };
  for (const isBusy of [false, true]) {
    if (isBusy) (await connect(t, server)).send('/busy');
    const ws = open();
    await once(ws, 'open');
    ws.send('hello');
    assert.equal(String((await once(ws, 'message'))[0]), 'echo hello');
  }
  const clients = await connectAll(t, server, 3);
  const connected = net.connect(port, '127.0.0.1');
  await once(connected, 'connect');
  await idle();
  for (const client of clients) client.send('/busy');
  // Over a connection that is there, its request goes out in this turn, as theirs do.
  const ws = open({ createConnection: () => connected });
  const [[, response], ...statuses] = await Promise.all([
    once(ws, 'unexpected-response'),
    ...clients.map((client) => client.status()),
  ]);
  assert.equal(response.statusCode, 503);
  assert.deepEqual(statuses, [200, 200, 200]);
});

/** What becomes of a request to upgrade, and of a CONNECT. */
async function outcomes(t, isGuarded, setup) {
  const seen = [];
  const { server } = await serve(t, (req, res) => {
    seen.push(`request ${req.url}`);
    res.end('plain');
  });
  setup(server, seen);
  const g = isGuarded ? guard(server, patient) : null;
  t.after(() => g?.close());
  for (const options of [upgrading, { ...upgrading, method: 'CONNECT' }]) {
    const client = await connect(t, server);
    client.send('/x', options);
    seen.push(
      await client.response().then(
        ({ status, body }) => `${status} ${body}`,
        () => 'closed',
      ),
    );
  }
  await turn();
  return seen;
}

const setups = {
  'nobody listens': () => {},
  "an 'upgrade' listener": (server, seen) =>
    server.on('upgrade', (req, socket, head) => {
      seen.push(`upgrade ${req.url} ${head.length}`);
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    }),
  "a 'connect' listener": (server, seen) =>
    server.on('connect', (req, socket, head) => {
      seen.push(`connect ${req.url} ${head.length}`);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }),
  'shouldUpgradeCallback declines': (server) => {
    server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    server.shouldUpgradeCallback = () => false;
  },
  'shouldUpgradeCallback accepts, nobody listens': (server) => {
    server.shouldUpgradeCallback = () => true;
  },
};

for (const [name, setup] of Object.entries(setups)) {
  test(`node:http upgrades the same requests: ${name}`, async (t) => {
    assert.deepEqual(await outcomes(t, true, setup), await outcomes(t, false, setup));
  });
}
