// A cached handler and the guard that its requests come through: it follows its pressure, and where it is told of it, answers what it sheds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin, { Guard, guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import Fastify from 'fastify';
import { stillClock } from '../../../base/test/clocks.js';
import { BUSY_MS, block, connectAll, patient, serve } from '../http/wire.js';
import { patience } from '../patience.js';
import { listen } from './shapes.js';

/** One runs, one waits, and what is of a lower class has to go. */
const full = { ...patient, maxQueue: 1, classes: { '/busy': 'high', '/prices': 'low' } };

async function serveGuarded(t, listener) {
  const { server } = await serve(t, listener);
  const g = guard(server, full);
  t.after(() => g.close());
  return { server, g };
}

/** A handler that blocks, as the only one that moves the clock, and calls `meanwhile` once before: what that sends has come when it is over. */
function busyHandler(t) {
  const clock = stillClock(t);
  const busy = { meanwhile: null };
  return Object.assign(busy, {
    run() {
      busy.meanwhile?.();
      busy.meanwhile = null;
      block();
      clock.pass(BUSY_MS);
    },
  });
}

/** Fills the guard, and asks for the page then. */
function askWhileFull(busy, clients, page) {
  busy.meanwhile = () => {
    clients[1].send('/busy');
    clients[2].send(page);
  };
  clients[0].send('/busy');
  return Promise.all(clients.map((client) => client.response()));
}

test('requests that the guard of a server sheds are answered with a stale copy', async (t) => {
  let runs = 0;
  const busy = busyHandler(t);
  const { server, g } = await serveGuarded(t, (req, res) => {
    if (req.url === '/prices') return prices(req, res);
    busy.run();
    res.end();
  });
  const options = { ttl: 0, stale: 60, guard: g };
  const prices = cached((_req, res) => res.end(`prices ${++runs}`), options);
  const clients = await connectAll(t, server, 3);
  assert.equal((await clients[0].send('/prices').response()).body, 'prices 1');
  const [, , shed] = await askWhileFull(busy, clients, '/prices');
  assert.equal(shed.status, 200);
  assert.equal(shed.body, 'prices 1');
  assert.equal(shed.headers.warning, '110 - "Response is Stale"');
  assert.equal(g.stats().classes.low.stale, 1);
  assert.equal(prices.stats().shed, 1);
  // Its pressure is the handler's: a moment after somebody was shed.
  assert.equal(g.underPressure, true);
  assert.equal((await clients[0].send('/prices').response()).body, 'prices 1');
  assert.equal(prices.stats().stale, 1);
});

test('in Fastify as well, and nothing is sent after it', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  const errors = [];
  app.addHook('onError', async (_request, _reply, error) => errors.push(error));
  await app.register(plugin, { guard: full });
  let runs = 0;
  const busy = busyHandler(t);
  app.get(
    '/prices',
    cached(async () => `prices ${++runs}`, { ttl: 0, stale: 60, guard: app.millraceGuard }),
  );
  app.get('/busy', (_request, reply) => {
    busy.run();
    reply.send('done');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const clients = await connectAll(t, app.server, 3);
  assert.equal((await clients[0].send('/prices').response()).body, 'prices 1');
  const [, , shed] = await askWhileFull(busy, clients, '/prices');
  assert.deepEqual([shed.status, shed.body], [200, 'prices 1']);
  assert.equal(app.millraceGuard.stats().classes.low.stale, 1);
  assert.deepEqual(errors, []);
  // The connection is whole.
  assert.equal((await clients[2].send('/busy').response()).body, 'done');
});

test('without being told of the guard it follows its pressure, and answers nothing in its place', async (t) => {
  let runs = 0;
  const busy = busyHandler(t);
  const prices = cached((_req, res) => res.end(`prices ${++runs}`), { ttl: 0, stale: 60 });
  const { server, g } = await serveGuarded(t, (req, res) => {
    // Who asks is checked before the cache, and the guard does not know that.
    if (req.headers['x-api-key'] === 'none') return res.writeHead(401).end();
    if (req.url === '/prices') return prices(req, res);
    busy.run();
    res.end();
  });
  const clients = await connectAll(t, server, 3);
  assert.equal((await clients[0].send('/prices').response()).body, 'prices 1');
  const [, , shed] = await askWhileFull(busy, clients, '/prices');
  assert.equal(shed.status, 503);
  assert.equal(g.caches.size, 0);
  assert.equal(g.underPressure, true);
  assert.equal((await clients[0].send('/prices').response()).body, 'prices 1');
  assert.equal(prices.stats().stale, 1);
});

test('a copy is given in place of a refusal only where the handler would have been reached', async (t) => {
  const busy = busyHandler(t);
  const { server, g } = await serveGuarded(t, (req, res) => {
    if (req.url.startsWith('/prices')) return prices(req, res);
    busy.run();
    res.end('another');
  });
  // To this key the two routes are one.
  const key = (req) => new URL(req.url, 'http://host').search;
  const prices = cached((_req, res) => res.end('a price'), { ttl: 60, key, guard: g });
  const clients = await connectAll(t, server, 3);
  await clients[0].send('/prices?id=5').response();
  const [, , other] = await askWhileFull(busy, clients, '/another?id=5');
  assert.equal(other.status, 503);
  const [, , same] = await askWhileFull(busy, clients, '/prices?id=5');
  assert.deepEqual([same.status, same.body], [200, 'a price']);
});

test('a store is not asked for what has never reached the handler', async (t) => {
  const g = new Guard();
  t.after(() => g.close());
  let asked = 0;
  const get = async () => void asked++;
  const none = () => {};
  const storage = {
    ...{ get, set: none, invalidate: none, remove: none, clear: none },
    ...{ getTTL: none, exists: none },
  };
  const options = { ttl: 1, guard: g, storage: { type: 'custom', options: { storage } } };
  const handler = cached((_req, res) => res.end('page'), options);
  const [cache] = g.caches;
  const server = await listen(t, async (req, res) => {
    if (req.url === '/page') handler(req, res);
    else res.end(String(await cache.answer(req, res)));
  });
  assert.equal((await server.get('/other')).text, 'false');
  assert.equal(asked, 0);
  assert.equal((await server.get('/page')).text, 'page');
  assert.equal((await server.get('/page?1')).text, 'false');
  assert.equal(asked, 2);
});
