// What the plugin takes as an option, and what it refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin, { Guard } from '@millrace/guard';
import Fastify from 'fastify';
import { patience } from '../patience.js';
import { appWith } from './app.js';

const refused = [
  [{ maxEventLoopDelay: -1 }, /'maxEventLoopDelay' is -1; it must be a number of 0 or more/],
  [{ maxHeapUsedBytes: Number.NaN }, /'maxHeapUsedBytes' is NaN; it must be a number of 0 or more/],
  [{ maxRssBytes: '1 GB' }, /'maxRssBytes' is "1 GB"; it must be a number of 0 or more/],
  [{ maxEventLoopUtilization: 1.5 }, /'maxEventLoopUtilization' is 1.5; it must be .* 0 to 1/],
  [{ maxEventLoopUtilization: -0.1 }, /'maxEventLoopUtilization' is -0.1/],
  [{ eventLoopUtilizationMode: 'mean' }, /one of 'cumulative', 'interval'/],
  [{ sampleInterval: -5 }, /'sampleInterval' is -5; it must be a number from 0 to 2147483647/],
  [{ sampleInterval: Number.POSITIVE_INFINITY }, /'sampleInterval' is Infinity/],
  [{ healthCheck: () => true, healthCheckInterval: Number.NaN }, /'healthCheckInterval' is NaN/],
  [{ healthCheckTimeout: -1 }, /'healthCheckTimeout' is -1/],
  [{ healthCheck: 'yes', healthCheckInterval: 10 }, /'healthCheck' is "yes"; .* a function/],
  [{ healthCheck: () => true }, /'healthCheckInterval' is 0; .* without 'exposeStatusRoute'/],
  [{ retryAfter: '10' }, /'retryAfter' is "10"/],
  [{ message: '' }, /'message' is "".*not empty/],
  [{ message: 5 }, /'message' is 5/],
  [{ pressureHandler: {} }, /'pressureHandler' is an object \(Object\); it must be a function/],
  [{ customError: 'busy' }, /'customError' is "busy"; it must be an error/],
  [{ exposeStatusRoute: 5 }, /'exposeStatusRoute' is 5/],
  [{ guard: { maxWait: -1 } }, /'maxWait' is -1/],
  [{ guard: { maxwait: 100 } }, /unknown option 'maxwait'/],
  [
    { maxEventLoopdelay: 5 },
    /^the plugin: unknown option 'maxEventLoopdelay' \(is 'maxEventLoopDelay' meant/,
  ],
  [{ guard: 'on' }, /'on'|"on"/],
];

for (const [options, message] of refused) {
  const shown = Object.entries(options).map(([name, value]) => `${name}: ${String(value)}`);
  test(`refuses ${shown.join(', ')}`, async () => {
    const app = Fastify(patience);
    app.register(plugin, options);
    await assert.rejects(app.ready(), { code: 'MILLRACE_E_INVALID_OPTION', message });
  });
}

test('options of others, Fastify for one, are left alone', async (t) => {
  const app = await appWith(t, { prefix: '/v2', logLevel: 'info', interval: 5, anything: {} });
  assert.equal((await app.inject('/')).statusCode, 200);
});

test('a closed guard is refused', async () => {
  const guard = new Guard();
  guard.close();
  const app = Fastify(patience);
  app.register(plugin, { guard });
  await assert.rejects(app.ready(), { code: 'MILLRACE_E_CLOSED' });
});

test('0, null and undefined are not given: nothing is limited', async (t) => {
  const app = await appWith(t, {
    maxEventLoopDelay: 0,
    maxHeapUsedBytes: 0,
    maxRssBytes: null,
    maxEventLoopUtilization: undefined,
    sampleInterval: 0,
    healthCheck: null,
    healthCheckInterval: 0,
    retryAfter: null,
    message: null,
    customError: null,
    pressureHandler: null,
    exposeStatusRoute: null,
  });
  assert.equal((await app.inject('/')).statusCode, 200);
  assert.equal(app.isUnderPressure(), false);
});

test('a route with a class that is none is refused where it is written', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  await app.register(plugin);
  for (const guard of ['high', true, 1, { class: 'urgent' }]) {
    assert.throws(() => app.get('/', { config: { guard } }, () => ''), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /config\.guard/,
    });
  }
});

test('is a plugin of Fastify 5 under the name of under-pressure, for the context around it', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  app.register(plugin);
  const dependent = async () => {};
  dependent[Symbol.for('skip-override')] = true;
  dependent[Symbol.for('plugin-meta')] = {
    name: 'dependent',
    dependencies: ['@fastify/under-pressure'],
  };
  app.register(dependent);
  await app.ready();
  assert.ok(app.hasPlugin('@fastify/under-pressure'));
  assert.equal(typeof app.memoryUsage, 'function');
  assert.equal(typeof app.isUnderPressure, 'function');
  assert.ok(app.millraceGuard instanceof Guard);
});

test('in a context of its own it is for that context only', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  app.register(async (inner) => {
    inner.register(plugin, { healthCheck: () => false, healthCheckInterval: 60_000 });
    inner.get('/inner', () => 'answered');
  });
  app.get('/', () => 'answered');
  assert.equal((await app.inject('/inner')).statusCode, 503);
  assert.equal((await app.inject('/')).statusCode, 200);
  assert.equal(app.isUnderPressure, undefined);
});
