// A cached handler and the guard that its requests come through, without being told of one another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import plugin, { cached, guard } from 'millrace/guard';
import { block, connectAll, patient, serve } from '../http/wire.js';

/** One runs, one waits, and what is of a lower class has to go. */
const full = { ...patient, maxQueue: 1, classes: { '/busy': 'high', '/prices': 'low' } };

/** A handler that blocks, and calls `meanwhile` once before: what that sends has come when it is over. */
function busyHandler() {
  const busy = { meanwhile: null };
  return Object.assign(busy, {
    run() {
      busy.meanwhile?.();
      busy.meanwhile = null;
      block();
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

test('what the guard of a server sheds is answered with a stale copy', async (t) => {
  let runs = 0;
  const busy = busyHandler();
  const prices = cached((_req, res) => res.end(`prices ${++runs}`), { ttl: 0, stale: 60 });
  const { server } = await serve(t, (req, res) => {
    if (req.url === '/prices') return prices(req, res);
    busy.run();
    res.end();
  });
  const g = guard(server, full);
  t.after(() => g.close());
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
  const app = Fastify();
  t.after(() => app.close());
  const errors = [];
  app.addHook('onError', async (_request, _reply, error) => errors.push(error));
  await app.register(plugin, { guard: full });
  let runs = 0;
  const busy = busyHandler();
  app.get(
    '/prices',
    cached(async () => `prices ${++runs}`, { ttl: 0, stale: 60 }),
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
