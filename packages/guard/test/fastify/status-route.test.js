// The status route, in each form in which it can be asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin, { TYPE_HEALTH_CHECK } from '@millrace/guard';
import Fastify from 'fastify';
import { patience } from '../patience.js';
import { appWith, until } from './app.js';

/** The options of the routes that the plugin adds; those for HEAD are Fastify's. */
async function routesOf(t, options) {
  const app = Fastify({ ...patience, exposeHeadRoutes: false });
  t.after(() => app.close());
  const routes = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.register(plugin, options);
  await app.ready();
  return routes;
}

for (const exposeStatusRoute of [undefined, false, '']) {
  test(`${JSON.stringify(exposeStatusRoute)}: there is none`, async (t) => {
    assert.deepEqual(await routesOf(t, { exposeStatusRoute }), []);
  });
}

for (const [exposeStatusRoute, url] of [
  [true, '/status'],
  ['/alive', '/alive'],
  [{}, '/status'],
  [{ url: '/alive' }, '/alive'],
]) {
  test(`${JSON.stringify(exposeStatusRoute)}: it is ${url}`, async (t) => {
    const app = await appWith(t, { exposeStatusRoute });
    const { statusCode, body } = await app.inject(url);
    assert.deepEqual([statusCode, body], [200, '{"status":"ok"}']);
    assert.equal((await app.inject({ url, method: 'HEAD' })).statusCode, 200);
  });
}

test('it has the prefix of its context', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  app.register(async (inner) => inner.register(plugin, { exposeStatusRoute: true }), {
    prefix: '/v2',
  });
  assert.equal((await app.inject('/v2/status')).statusCode, 200);
});

test('routeOpts and routeSchemaOpts are those of the route; the options given stay as they are', async (t) => {
  const config = { any: 'thing' };
  const exposeStatusRoute = Object.freeze({
    url: '/alive',
    routeOpts: Object.freeze({ logLevel: 'silent', config }),
    routeSchemaOpts: Object.freeze({ hide: true }),
  });
  const [route, ...more] = await routesOf(t, { exposeStatusRoute });
  assert.deepEqual(more, []);
  assert.deepEqual([route.method, route.url, route.logLevel], ['GET', '/alive', 'silent']);
  assert.equal(route.config, config);
  assert.equal(route.schema.hide, true);
  assert.deepEqual(Object.keys(route.schema.response), ['200', '500', '503']);
  for (const { description, properties } of Object.values(route.schema.response)) {
    assert.ok(description.length > 0);
    assert.ok(Object.keys(properties).length > 0);
  }
});

test('the result of the check is sent as far as routeResponseSchemaOpts has it', async (t) => {
  const app = await appWith(t, {
    healthCheck: async (app) => ({ usage: app.memoryUsage(), version: 3, secret: 'kept' }),
    exposeStatusRoute: {
      routeResponseSchemaOpts: {
        version: { type: 'number' },
        usage: { type: 'object', properties: { rssBytes: { type: 'number' } } },
      },
    },
  });
  const { status, version, usage, secret } = (await app.inject('/status')).json();
  assert.deepEqual([status, version, secret], ['ok', 3, undefined]);
  assert.equal(typeof usage.rssBytes, 'number');
});

test('a response schema of routeSchemaOpts adds properties to 200, and replaces others', async (t) => {
  const own503 = { type: 'object', properties: { reason: { type: 'string' } } };
  const [{ schema }] = await routesOf(t, {
    exposeStatusRoute: {
      routeResponseSchemaOpts: { extra: { type: 'string' } },
      routeSchemaOpts: {
        response: {
          200: { description: 'Fine', properties: { more: { type: 'string' } } },
          503: own503,
        },
      },
    },
  });
  const { 200: success, 500: failure, 503: unavailable } = schema.response;
  assert.equal(success.description, 'Fine');
  assert.deepEqual(Object.keys(success.properties), ['status', 'extra', 'more']);
  assert.equal(unavailable, own503);
  assert.ok(failure.properties.statusCode);
});

test('it asks the check each time', async (t) => {
  let calls = 0;
  const app = await appWith(t, {
    healthCheck: async () => {
      calls++;
      return true;
    },
    exposeStatusRoute: true,
  });
  await app.inject('/status');
  await app.inject('/status');
  // The first one was before the server was ready.
  assert.equal(calls, 3);
});

for (const [what, answer] of [
  ['answers false', async () => false],
  ['throws', () => assert.fail('injected')],
  ['hangs', () => new Promise(() => {})],
]) {
  test(`a check that ${what} is a 503`, async (t) => {
    // An injected request has no connection that would keep the process.
    const alive = setInterval(() => {}, 1000);
    t.after(() => clearInterval(alive));
    let check = () => true;
    const app = await appWith(t, {
      healthCheck: () => check(),
      healthCheckTimeout: 5,
      exposeStatusRoute: true,
      retryAfter: 7,
    });
    check = answer;
    const { statusCode, headers, body } = await app.inject('/status');
    assert.deepEqual([statusCode, headers['retry-after']], [503, '7']);
    assert.deepEqual(JSON.parse(body), {
      statusCode: 503,
      code: 'FST_UNDER_PRESSURE',
      error: 'Service Unavailable',
      message: 'Service Unavailable',
    });
  });
}

test('limits and health are for it too, as for any route', async (t) => {
  const app = await appWith(t, {
    healthCheck: async () => false,
    exposeStatusRoute: true,
    pressureHandler: (request, reply, type) => void reply.code(599).send(type),
  });
  await until(() => app.isUnderPressure());
  const { statusCode, body } = await app.inject('/status');
  assert.deepEqual([statusCode, body], [599, TYPE_HEALTH_CHECK]);
});
