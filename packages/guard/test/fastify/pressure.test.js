// Limits: each is compared with what is sampled, and a request beyond one of them is refused as under-pressure refuses it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  TYPE_EVENT_LOOP_DELAY,
  TYPE_EVENT_LOOP_UTILIZATION,
  TYPE_HEALTH_CHECK,
  TYPE_HEAP_USED_BYTES,
  TYPE_RSS_BYTES,
} from '@millrace/guard';
import { appWith, block, until } from './app.js';

const refusal = {
  code: 'FST_UNDER_PRESSURE',
  error: 'Service Unavailable',
  message: 'Service Unavailable',
  statusCode: 503,
};

/** Without the guard: here, only limits may refuse. */
async function exceeding(t, options, routes) {
  const app = await appWith(t, { sampleInterval: 10, guard: false, ...options }, routes);
  await until(() => {
    block(20);
    return app.isUnderPressure();
  });
  return app;
}

const limits = [
  [{ maxEventLoopDelay: 1 }, TYPE_EVENT_LOOP_DELAY, 'eventLoopDelay'],
  [{ maxHeapUsedBytes: 1 }, TYPE_HEAP_USED_BYTES, 'heapUsed'],
  [{ maxRssBytes: 1 }, TYPE_RSS_BYTES, 'rssBytes'],
  [{ maxEventLoopUtilization: 1e-9 }, TYPE_EVENT_LOOP_UTILIZATION, 'eventLoopUtilized'],
  [
    { maxEventLoopUtilization: 1e-9, eventLoopUtilizationMode: 'interval' },
    TYPE_EVENT_LOOP_UTILIZATION,
    'eventLoopUtilized',
  ],
];

for (const [options, type, field] of limits) {
  test(`${JSON.stringify(options)}: the handler is told ${type} and its value`, async (t) => {
    const told = [];
    const app = await exceeding(t, {
      ...options,
      pressureHandler(request, reply, ...why) {
        told.push([...why, app.memoryUsage()[field]]);
        reply.code(503).send('refused');
      },
    });
    // The loop is idle again: the limit may no longer be exceeded.
    await until(async () => {
      block(20);
      return (await app.inject('/')).body === 'refused';
    });
    const [given, value, sampled] = told[0];
    assert.equal(given, type);
    assert.ok(value > 0);
    assert.equal(value, sampled);
  });
}

test('a limit that is not exceeded refuses nothing', async (t) => {
  const told = [];
  const app = await appWith(t, {
    sampleInterval: 200,
    guard: false,
    pressureHandler: (_request, _reply, ...why) => void told.push(why),
    maxEventLoopDelay: 1e9,
    maxHeapUsedBytes: 1e15,
    maxRssBytes: Number.POSITIVE_INFINITY,
    maxEventLoopUtilization: 1,
  });
  // A sample without a turn of the loop in it has the delay Infinity, beyond any limit.
  await until(() => {
    const { rssBytes, eventLoopDelay } = app.memoryUsage();
    return rssBytes > 0 && eventLoopDelay < Number.POSITIVE_INFINITY;
  });
  assert.equal(app.isUnderPressure(), false);
  const isEmpty = ([type, value]) => type === TYPE_EVENT_LOOP_DELAY && value === Infinity;
  await until(async () => {
    told.length = 0;
    assert.equal((await app.inject('/')).body, 'answered');
    return !told.some(isEmpty);
  });
  assert.deepEqual(told, []);
});

test('what comes first of delay, heap, RSS, health and utilization is reported', async (t) => {
  const all = {
    maxHeapUsedBytes: 1,
    maxRssBytes: 1,
    healthCheck: () => false,
    healthCheckInterval: 60_000,
    maxEventLoopUtilization: 1e-9,
  };
  const order = [];
  for (const name of [null, 'maxHeapUsedBytes', 'maxRssBytes', 'healthCheck']) {
    if (name !== null) delete all[name];
    const app = await exceeding(t, { ...all, pressureHandler: (request, reply, type) => type });
    await until(() => app.memoryUsage().eventLoopUtilized > 0);
    order.push((await app.inject('/')).body);
  }
  const expected = [TYPE_HEAP_USED_BYTES, TYPE_RSS_BYTES, TYPE_HEALTH_CHECK];
  assert.deepEqual(order, [...expected, TYPE_EVENT_LOOP_UTILIZATION]);
});

test('without a handler the answer is the 503 of under-pressure', async (t) => {
  const app = await exceeding(t, { maxRssBytes: 1 });
  const { statusCode, headers, body } = await app.inject('/');
  assert.equal(statusCode, 503);
  assert.equal(headers['retry-after'], '10');
  assert.deepEqual(JSON.parse(body), refusal);
});

test('message and retryAfter', async (t) => {
  const app = await exceeding(t, { maxRssBytes: 1, message: 'Too much', retryAfter: 50 });
  const { headers, body } = await app.inject('/');
  assert.equal(headers['retry-after'], '50');
  assert.deepEqual(JSON.parse(body), { ...refusal, message: 'Too much' });
});

class Teapot extends Error {
  statusCode = 418;
  code = 'TEAPOT';
}

for (const [what, customError] of [
  ['a class', Teapot],
  ['an instance', Object.assign(new Teapot(), { message: '' })],
]) {
  test(`customError is ${what}: the error handler gets it`, async (t) => {
    const caught = [];
    const app = await exceeding(t, { maxRssBytes: 1, customError }, (app) => {
      app.setErrorHandler((error, request, reply) => {
        caught.push(error);
        reply.code(error.statusCode).send(error.code);
      });
      app.get('/', () => 'answered');
    });
    const { statusCode, body, headers } = await app.inject('/');
    assert.deepEqual([statusCode, body, headers['retry-after']], [418, 'TEAPOT', '10']);
    assert.ok(caught[0] instanceof Teapot);
  });
}

test('one error is made for all requests', async (t) => {
  let made = 0;
  class Counted extends Error {
    constructor() {
      super('counted');
      made++;
    }
  }
  const app = await exceeding(t, { maxRssBytes: 1, customError: Counted });
  for (let i = 0; i < 3; i++) assert.equal((await app.inject('/')).statusCode, 503);
  assert.equal(made, 1);
});

/** What a handler does, and the answer that follows. */
const handlers = [
  ['sends', (request, reply) => void reply.code(429).send('sent'), 429, 'sent'],
  ['returns the reply it sent', (request, reply) => reply.code(429).send('sent'), 429, 'sent'],
  ['returns a value', () => 'returned', 200, 'returned'],
  ['returns an object', () => ({ a: 1 }), 200, '{"a":1}'],
  ['returns nothing', () => {}, 200, 'answered'],
  ['returns null', () => null, 200, 'answered'],
  ['sends later', async (request, reply) => void (await reply.send('later')), 200, 'later'],
  ['resolves and sends nothing', async () => {}, 200, 'answered'],
  ['throws', () => assert.fail('thrown'), 500, /thrown/],
  ['rejects', async () => assert.fail('rejected'), 500, /rejected/],
];

for (const [what, pressureHandler, status, text] of handlers) {
  for (const where of ['plugin', 'route']) {
    test(`a pressureHandler of the ${where} that ${what}`, async (t) => {
      const other = () => 'of the plugin';
      const app = await exceeding(
        t,
        { maxRssBytes: 1, pressureHandler: where === 'plugin' ? pressureHandler : other },
        (app) => {
          const config = where === 'route' ? { pressureHandler } : {};
          app.get('/', { config }, () => 'answered');
        },
      );
      const { statusCode, body } = await app.inject('/');
      assert.equal(statusCode, status);
      if (text instanceof RegExp) assert.match(body, text);
      else assert.equal(body, text);
    });
  }
}

/** On a real connection: requests that are injected are not counted. */
async function answerOf(app) {
  const response = await fetch(await app.listen({ port: 0, host: '127.0.0.1' }));
  return [response.status, response.headers.get('retry-after'), await response.text()];
}

test('with the guard, a refusal is counted by its reason and its route, and nothing else changes', async (t) => {
  const told = [];
  const app = await exceeding(t, {
    maxRssBytes: 1,
    guard: { onShed: ({ reason, route }) => told.push([reason, route]) },
  });
  const [status, retryAfter, body] = await answerOf(app);
  assert.deepEqual([status, retryAfter, JSON.parse(body)], [503, '10', refusal]);
  const { classes, routes } = app.millraceGuard.stats();
  assert.deepEqual([classes.normal.shed.pressure, classes.normal.shed.unhealthy], [1, 0]);
  assert.deepEqual([routes[0].route, routes[0].shed], ['GET /', 1]);
  assert.deepEqual(told, [['pressure', 'GET /']]);
});

test('with the guard, an unhealthy service is counted as such', async (t) => {
  const app = await appWith(t, { healthCheck: () => false, healthCheckInterval: 60_000 });
  const [status] = await answerOf(app);
  assert.equal(status, 503);
  assert.equal(app.millraceGuard.stats().classes.normal.shed.unhealthy, 1);
});

test('a route without the guard is limited all the same', async (t) => {
  const app = await exceeding(t, { maxRssBytes: 1, guard: true }, (app) => {
    app.get('/', { config: { guard: false } }, () => 'answered');
  });
  const [status] = await answerOf(app);
  assert.equal(status, 503);
  assert.equal(app.millraceGuard.stats().classes.normal.shed.pressure, 0);
});

test('observe: limits refuse nothing either, and what they would have is counted', async (t) => {
  const app = await exceeding(t, {
    maxRssBytes: 1,
    guard: { observe: true },
    pressureHandler: () => assert.fail('asked'),
  });
  const [status, , body] = await answerOf(app);
  assert.deepEqual([status, body], [200, 'answered']);
  assert.equal(app.millraceGuard.stats().classes.normal.wouldShed.pressure, 1);
});

test('with the guard, a request that is injected is refused at once', async (t) => {
  const app = await exceeding(t, { maxRssBytes: 1, guard: true });
  assert.equal((await app.inject('/')).statusCode, 503);
});

test('a request that the handler lets pass goes through the guard', async (t) => {
  const app = await exceeding(t, { maxRssBytes: 1, pressureHandler: () => {}, guard: true });
  assert.equal((await app.inject('/')).body, 'answered');
  assert.equal(app.millraceGuard.stats().classes.normal.admitted, 1);
});

test('a request that the handler has answered does not', async (t) => {
  const pressureHandler = (request, reply) => void reply.code(429).send('refused');
  const app = await exceeding(t, { maxRssBytes: 1, pressureHandler, guard: true });
  assert.equal((await app.inject('/')).body, 'refused');
  assert.equal(app.millraceGuard.stats().classes.normal.admitted, 0);
});

test('memoryUsage() is the last sample, and nobody can change it for others', async (t) => {
  const app = await appWith(t, { sampleInterval: 10 });
  await until(() => app.memoryUsage().rssBytes > 0);
  const usage = app.memoryUsage();
  assert.deepEqual(Object.keys(usage).sort(), [
    'eventLoopDelay',
    'eventLoopUtilized',
    'heapUsed',
    'rssBytes',
  ]);
  usage.rssBytes = -1;
  assert.ok(app.memoryUsage().rssBytes > 0);
});

test('it is sampled again and again', async (t) => {
  const app = await appWith(t, { sampleInterval: 10 });
  const utilizations = new Set();
  await until(() => utilizations.add(app.memoryUsage().eventLoopUtilized).size >= 4);
});
