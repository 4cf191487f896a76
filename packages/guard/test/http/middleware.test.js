/** guardMiddleware(): under Express and Connect, alone and together with guard(server). */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { Guard, guard, guardMiddleware } from '@millrace/guard';
import connectApp from 'connect';
import express from 'express';
import { block, connect, connectAll, enduring, listen, patient } from './wire.js';

async function serveApp(t, app) {
  const server = http.createServer(enduring, app);
  await listen(t, server);
  return server;
}

const kinds = { Express: express, Connect: connectApp };

for (const [kind, create] of Object.entries(kinds)) {
  test(`${kind}: requests wait, are run in order of class, and are turned away`, async (t) => {
    const order = [];
    const app = create();
    const guarded = guardMiddleware({ ...patient, maxQueue: 2, classes: { '/pay': 'high' } });
    t.after(() => guarded.guard.close());
    app.use(guarded);
    app.use((req, res) => {
      order.push(req.url);
      block();
      res.end(req.url);
    });
    const server = await serveApp(t, app);
    const clients = await connectAll(t, server, 4);
    for (const [i, path] of ['/1', '/shop', '/pay', '/2'].entries()) clients[i].send(path);
    const responses = await Promise.all(clients.map((client) => client.response()));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200, 503],
    );
    assert.equal(responses[3].body, 'Service Unavailable');
    assert.deepEqual(order, ['/1', '/pay', '/shop']);
    const { classes, queued, inFlight } = guarded.guard.stats();
    assert.deepEqual(
      [classes.high.admitted, classes.normal.admitted, queued, inFlight],
      [1, 2, 0, 0],
    );
  });

  test(`${kind}: what a handler throws comes to the application's own error handler`, async (t) => {
    const app = create();
    const guarded = guardMiddleware(patient);
    t.after(() => guarded.guard.close());
    app.use(guarded);
    app.use((req) => {
      block();
      throw new Error(`on purpose, ${req.url}`);
    });
    app.use((error, req, res, next) => {
      res.statusCode = 500;
      res.end(error.message);
    });
    const server = await serveApp(t, app);
    const clients = await connectAll(t, server, 2);
    for (const [i, client] of clients.entries()) client.send(`/${i}`);
    for (const [i, client] of clients.entries()) {
      const { status, body } = await client.response();
      assert.deepEqual([status, body], [500, `on purpose, /${i}`]);
    }
    assert.equal(guarded.guard.stats().inFlight, 0);
  });
}

test('on a path of an Express application, routes and classes have their whole path', async (t) => {
  const app = express();
  const guarded = guardMiddleware({ ...patient, classes: { '/api/pay': 'high' } });
  t.after(() => guarded.guard.close());
  const router = express.Router();
  router.use(guarded);
  router.get('/pay', (req, res) => void res.send(req.baseUrl));
  router.get('/users/:user', (req, res) => void res.send(req.params.user));
  app.use('/api', router);
  app.get('/open', (req, res) => void res.send('open'));
  const server = await serveApp(t, app);
  const client = await connect(t, server);
  assert.equal((await client.send('/api/pay').response()).body, '/api');
  assert.equal((await client.send('/api/users/17').response()).body, '17');
  assert.equal((await client.send('/open').response()).body, 'open');
  const { routes, classes } = guarded.guard.stats();
  assert.deepEqual(
    routes
      .filter(({ count }) => count > 0)
      .map(({ route, class: name }) => `${name} ${route}`)
      .sort(),
    ['high GET /api/pay', 'normal GET /api/users/:id'],
  );
  assert.deepEqual([classes.high.admitted, classes.normal.admitted], [1, 1]);
});

test('a request passes one guard only', async (t) => {
  const shared = new Guard(patient);
  const own = guardMiddleware(patient);
  const app = express();
  app.use(guardMiddleware(shared));
  app.use(own);
  app.use((req, res) => void res.send('ok'));
  const server = await serveApp(t, app);
  const ofServer = guard(server, patient);
  t.after(() => {
    for (const g of [shared, own.guard, ofServer]) g.close();
  });
  const client = await connect(t, server);
  assert.equal(await client.send('/').status(), 200);
  const counts = () => [ofServer, shared, own.guard].map((g) => g.stats().classes.normal.admitted);
  assert.deepEqual(counts(), [1, 0, 0]);
  ofServer.close();
  assert.equal(await client.send('/').status(), 200);
  assert.deepEqual(counts(), [1, 1, 0]);
});

test('the guard learns of a server by its first request, and is told of connections from then on', async (t) => {
  const guarded = guardMiddleware(patient);
  t.after(() => guarded.guard.close());
  const notice = t.mock.method(guarded.guard, 'noticeConnection');
  const app = connectApp();
  app.use(guarded);
  app.use((req, res) => res.end());
  const server = await serveApp(t, app);
  const client = await connect(t, server);
  for (let i = 0; i < 3; i++) assert.equal(await client.send('/').status(), 200);
  assert.equal(notice.mock.callCount(), 0);
  await connectAll(t, server, 3);
  assert.equal(notice.mock.callCount(), 3);
});

test('a closed guard is refused; one that is closed later lets all pass', async (t) => {
  const closed = new Guard();
  closed.close();
  assert.throws(() => guardMiddleware(closed), { code: 'MILLRACE_E_CLOSED' });
  assert.throws(() => guardMiddleware({ slice: -1 }), { code: 'MILLRACE_E_INVALID_OPTION' });
  const guarded = guardMiddleware({ ...patient, maxQueue: 1 });
  const app = connectApp();
  app.use(guarded);
  app.use((req, res) => {
    block();
    res.end();
  });
  const server = await serveApp(t, app);
  guarded.guard.close();
  const clients = await connectAll(t, server, 5);
  for (const client of clients) client.send('/');
  for (const client of clients) assert.equal(await client.status(), 200);
});

test('body parsers and streams work behind it', async (t) => {
  const app = express();
  const guarded = guardMiddleware(patient);
  t.after(() => guarded.guard.close());
  app.use(guarded, express.json({ limit: '1mb' }));
  app.post('/busy', (req, res) => {
    block();
    res.end();
  });
  app.post('/sum', (req, res) => void res.json(req.body.reduce((sum, n) => sum + n, 0)));
  const server = await serveApp(t, app);
  const clients = await connectAll(t, server, 3);
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  clients[0].send('/busy', { method: 'POST' });
  for (const client of clients.slice(1)) {
    client.send('/sum', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(numbers),
    });
  }
  for (const client of clients.slice(1)) {
    assert.equal((await client.response()).body, String((20_000 * 19_999) / 2));
  }
});
