// Requests that the plugin refuses, or lets pass after all, have the AsyncLocalStorage values of their own.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import plugin from '@millrace/guard';
import Fastify from 'fastify';
import { block, connectAll } from '../http/wire.js';
import { patience } from '../patience.js';
import { until } from './app.js';

for (const passes of [false, true]) {
  test(`a pressure handler that ${passes ? 'lets them pass' : 'answers'}`, async (t) => {
    const storage = new AsyncLocalStorage();
    const app = Fastify(patience);
    t.after(() => app.close());
    app.addHook('onRequest', (request, _reply, done) => storage.run(request.url, done));
    const seen = [];
    const handled = [];
    await app.register(plugin, {
      guard: { maxWait: 600_000, maxQueue: 1, rejectDelay: 5 },
      pressureHandler: (request) => {
        seen.push([storage.getStore(), request.url]);
        return passes ? undefined : 'refused';
      },
    });
    app.get('/:n', (request, reply) => {
      handled.push([storage.getStore(), request.url]);
      block();
      reply.send('done');
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const clients = await connectAll(t, app.server, 8);
    for (const [n, client] of clients.entries()) client.send(`/${n}`);
    for (const client of clients) await client.response();
    assert.ok(seen.length > 0);
    for (const [store, url] of [...seen, ...handled]) assert.equal(store, url);
    if (passes) assert.equal(handled.length, 8);
  });
}

test('two guards of one request, in plugins around one another, forget it when it is over', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  await app.register(plugin, { maxRssBytes: 1, sampleInterval: 10, guard: { observe: true } });
  const outer = app.millraceGuard;
  let inner;
  app.register(async (scope) => {
    // The decorations of the outer one are there already.
    inner = new outer.constructor();
    scope.addHook('onRequest', (_request, _reply, done) => done());
    const { guardMiddleware } = await import('@millrace/guard');
    const middleware = guardMiddleware(inner);
    scope.addHook('onRequest', (request, reply, done) => middleware(request.raw, reply.raw, done));
    scope.get('/', async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return 'ok';
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const [client] = await connectAll(t, app.server, 1);
  await until(() => app.isUnderPressure());
  for (let i = 0; i < 3; i++) assert.equal(await client.send('/').status(), 200);
  assert.deepEqual([outer.stats().inFlight, inner.stats().inFlight], [0, 0]);
});

test('the option route names routes in Fastify as well', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  await app.register(plugin, { guard: { route: (req) => `mine ${req.method}` } });
  app.get('/:n', async () => 'ok');
  assert.equal((await app.inject('/5')).statusCode, 200);
  assert.deepEqual(
    app.millraceGuard.stats().routes.map(({ route }) => route),
    ['mine GET'],
  );
});
