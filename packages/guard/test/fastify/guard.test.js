// The guard before the routes of Fastify, on real connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { test } from 'node:test';
import plugin, {
  Guard,
  TYPE_PREDICTED_WAIT,
  TYPE_QUEUE_AGE,
  TYPE_QUEUE_FULL,
} from '@millrace/guard';
import Fastify from 'fastify';
import { exactClock } from '../http/wire.js';
import { patience } from '../patience.js';
import { appWith, block, until } from './app.js';

/** Waits are long or short by the clock of a test. */
const slow = { maxWait: 40, rejectDelay: 0 };

/** Asks on one of the connections that are open. */
function ask(app, path, headers = {}) {
  const { port } = app.server.address();
  return http.get({ port, path, headers, agent: app.agent, host: '127.0.0.1' });
}

async function get(app, path, headers) {
  const [response] = await once(ask(app, path, headers), 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode, headers: response.headers, body };
}

const many = (count, ask) => Promise.all(Array.from({ length: count }, (_, i) => ask(i)));

function count(answers) {
  const counts = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** With as many connections open: Node.js accepts one in a turn of the loop, and these tests need requests that come together. */
async function listening(t, options, routes, connections = 40) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  t.after(() => agent.destroy());
  const app = await appWith(t, options, async (app) => {
    app.decorate('agent', agent);
    await routes(app);
    app.get('/open', { config: { guard: false } }, () => '');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  await many(connections, () => get(app, '/open'));
  return app;
}

/** A route whose handler holds the loop for 15 ms, by a clock that nothing else moves, and how often it did. */
function blocking(t, config) {
  const clock = exactClock(t);
  const route = (app) => {
    app.get('/', { config }, () => {
      route.runs++;
      clock.pass(15);
      return 'answered';
    });
  };
  route.runs = 0;
  return route;
}

test('more than the loop can do: each request has one answer, and what has to wait too long has a 503', async (t) => {
  const route = blocking(t);
  const app = await listening(t, { guard: slow }, route);
  const answers = await many(40, () => get(app, '/'));
  const { 200: good, 503: refused } = count(answers);
  assert.equal(good + refused, 40);
  assert.ok(good >= 1 && refused >= 1, `${good} good, ${refused} refused`);
  assert.equal(route.runs, good);
  assert.equal(app.isUnderPressure(), true);
  const { headers, body } = answers.find(({ status }) => status === 503);
  assert.deepEqual(JSON.parse(body), {
    code: 'FST_UNDER_PRESSURE',
    error: 'Service Unavailable',
    message: 'Service Unavailable',
    statusCode: 503,
  });
  assert.match(headers['retry-after'], /^[1-9]\d*$/);
  const { normal } = app.millraceGuard.stats().classes;
  assert.equal(normal.admitted, good);
  assert.equal(normal.shed.wait + normal.shed.age + normal.shed.full, refused);
});

test('retryAfter, message and customError of the plugin are for the guard too', async (t) => {
  const app = await listening(
    t,
    { guard: slow, retryAfter: 33, message: 'Come back later' },
    blocking(t),
  );
  const answers = await many(40, () => get(app, '/'));
  const { headers, body } = answers.find(({ status }) => status === 503);
  assert.equal(headers['retry-after'], '33');
  assert.equal(JSON.parse(body).message, 'Come back later');
});

for (const where of ['plugin', 'route']) {
  test(`the pressureHandler of the ${where} answers requests that the guard refuses, and gets the reason`, async (t) => {
    const told = [];
    const pressureHandler = (request, reply, type, value) => {
      told.push([type, value]);
      return reply.code(429).send('refused');
    };
    const options = where === 'plugin' ? { pressureHandler } : {};
    const config = where === 'route' ? { pressureHandler } : {};
    const app = await listening(t, { guard: slow, ...options }, blocking(t, config));
    const { 200: good, 429: refused } = count(await many(40, () => get(app, '/')));
    assert.equal(good + refused, 40);
    assert.equal(told.length, refused);
    const known = [TYPE_PREDICTED_WAIT, TYPE_QUEUE_AGE, TYPE_QUEUE_FULL];
    for (const [type, value] of told) {
      assert.ok(known.includes(type), type);
      assert.ok(value >= 0, String(value));
    }
  });
}

for (const [what, pressureHandler, status] of [
  ['answers nothing: the request is handled', () => {}, 200],
  ['resolves, whatever with: the request is handled', async () => 'ignored', 200],
  ['throws: the request ends with its error', () => assert.fail('injected'), 500],
  ['rejects: the request ends with its error', async () => assert.fail('injected'), 500],
]) {
  test(`a pressureHandler that ${what}`, async (t) => {
    let calls = 0;
    const counting = (...args) => {
      calls++;
      return pressureHandler(...args);
    };
    const app = await listening(t, { guard: slow, pressureHandler: counting }, blocking(t));
    const counts = count(await many(40, () => get(app, '/')));
    assert.ok(calls > 0);
    assert.deepEqual(counts, status === 200 ? { 200: 40 } : { 200: 40 - calls, 500: calls });
  });
}

test('a queue that is full', async (t) => {
  const types = new Set();
  const app = await listening(
    t,
    {
      guard: { maxQueue: 1, maxWait: 600_000, rejectDelay: 0 },
      pressureHandler: (request, reply, type) => {
        types.add(type);
        reply.code(503).send();
      },
    },
    blocking(t),
  );
  await many(20, () => get(app, '/'));
  assert.deepEqual([...types], [TYPE_QUEUE_FULL]);
});

test('the status route, exempt routes and routes without the guard are never refused by it', async (t) => {
  const app = await listening(t, { guard: slow, exposeStatusRoute: '/alive' }, (app) => {
    blocking(t)(app);
    app.get('/exempt', { config: { guard: { class: 'exempt' } } }, () => 'exempt');
    app.get('/off', { config: { guard: false } }, () => 'off');
  });
  const paths = ['/', '/', '/alive', '/exempt', '/off'];
  const answers = await many(100, async (i) => {
    const path = paths[i % paths.length];
    return { path, ...(await get(app, path)) };
  });
  const others = answers.filter(({ path }) => path !== '/');
  assert.deepEqual(count(others), { 200: 60 });
  assert.ok(count(answers)[503] >= 1);
  const { classes, routes } = app.millraceGuard.stats();
  assert.equal(classes.exempt.admitted, 40);
  assert.equal(
    routes.find(({ route }) => route === 'GET /off'),
    undefined,
  );
});

test('HTTP/2: each stream has one answer', async (t) => {
  const app = Fastify({ ...patience, http2: true });
  const route = blocking(t);
  await app.register(plugin, { guard: slow });
  route(app);
  const session = http2.connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  t.after(() => {
    session.destroy();
    return app.close();
  });
  const statuses = await many(40, async () => {
    const stream = session.request({ ':path': '/' });
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return { status: headers[':status'] };
  });
  const { 200: good, 503: refused = 0 } = count(statuses);
  assert.equal(good + refused, 40);
  assert.equal(route.runs, good);
  await until(() => app.millraceGuard.stats().inFlight === 0);
});

test('classes by route, pattern, header and function', async (t) => {
  const app = await appWith(
    t,
    {
      guard: {
        classes: { '/by-pattern/*': 'low', '/by-config': 'low' },
        classHeader: 'x-priority',
        classify: ({ headers }) => (headers['x-vip'] ? 'high' : undefined),
      },
    },
    (app) => {
      app.get('/by-pattern/:id', () => '');
      app.get('/by-config', { config: { guard: { class: 'high' } } }, () => '');
      app.get('/usual', { config: { guard: {} } }, () => '');
    },
  );
  const classOf = async (url, headers) => {
    const before = app.millraceGuard.stats().classes;
    await app.inject({ url, headers });
    const after = app.millraceGuard.stats().classes;
    return Object.keys(after).filter((name) => after[name].admitted > before[name].admitted);
  };
  assert.deepEqual(await classOf('/by-pattern/7'), ['low']);
  assert.deepEqual(await classOf('/by-config'), ['high']);
  assert.deepEqual(await classOf('/usual'), ['normal']);
  assert.deepEqual(await classOf('/usual', { 'x-priority': 'low' }), ['low']);
  assert.deepEqual(await classOf('/by-pattern/7', { 'x-vip': '1' }), ['high']);
});

test('routes are counted by method and the path they were written with', async (t) => {
  const app = await appWith(t, {}, (app) => {
    app.get('/users/:name', () => '');
    app.post('/users/:name', () => '');
  });
  for (const name of ['a', 'b', 'c']) await app.inject(`/users/${name}?q=1`);
  await app.inject({ url: '/users/a', method: 'POST' });
  await app.inject('/none');
  const counts = app.millraceGuard.stats().routes.map(({ route, count }) => [route, count]);
  assert.deepEqual(Object.fromEntries(counts), {
    'GET /users/:name': 3,
    'POST /users/:name': 1,
    'GET /none': 1,
  });
});

test('routes that were added before the plugin are guarded as well', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  app.get('/before', { config: { guard: { class: 'low' } } }, () => '');
  app.register(plugin);
  await app.inject('/before');
  assert.equal(app.millraceGuard.stats().classes.low.admitted, 1);
});

test('observe: nothing is refused, and what would have been is counted', async (t) => {
  const app = await listening(t, { guard: { maxWait: 5, observe: true } }, blocking(t));
  assert.deepEqual(count(await many(30, () => get(app, '/'))), { 200: 30 });
  assert.ok(app.millraceGuard.stats().classes.normal.admitted === 30);
});

test('guard: false is under-pressure and no more', async (t) => {
  const app = await listening(t, { guard: false }, blocking(t));
  assert.equal(app.millraceGuard, null);
  assert.deepEqual(count(await many(30, () => get(app, '/'))), { 200: 30 });
  assert.equal(app.isUnderPressure(), false);
});

test('contexts of one server share the guard of `true`; a request passes one guard only', async (t) => {
  const app = Fastify(patience);
  t.after(() => app.close());
  const guards = [];
  app.register(plugin);
  app.register(async (inner) => {
    inner.register(plugin);
    inner.get('/inner', () => '');
    inner.ready(() => guards.push(inner.millraceGuard));
  });
  const other = new Guard();
  app.register(async (inner) => {
    inner.register(plugin, { guard: other });
    inner.get('/other', () => '');
  });
  await app.inject('/inner');
  await app.inject('/other');
  assert.equal(guards[0], app.millraceGuard);
  assert.equal(app.millraceGuard.stats().classes.normal.admitted, 2);
  assert.equal(other.stats().classes.normal.admitted, 0);
});

test("the plugin's guard is closed with the application, and a guard of the user's is not", async () => {
  for (const [guard, closed] of [
    [true, true],
    [{ slice: 5 }, true],
    [new Guard(), false],
  ]) {
    const app = Fastify(patience);
    await app.register(plugin, { guard });
    const { millraceGuard } = app;
    await app.close();
    assert.equal(millraceGuard.closed, closed);
    assert.equal(
      app.server.listenerCount('connection'),
      Fastify().server.listenerCount('connection'),
    );
  }
});

test('an application that closes answers what waits', async (t) => {
  const app = await listening(t, { guard: { maxWait: 600_000 } }, (app) => {
    let closing = false;
    app.get('/', () => {
      block(10);
      if (!closing && app.millraceGuard.stats().queued > 0) {
        closing = true;
        void app.close();
      }
      return 'answered';
    });
  });
  const answers = await many(20, () => get(app, '/'));
  const counts = count(answers);
  // 503 is Fastify's answer to what it reads when it is closing.
  assert.equal((counts[200] ?? 0) + (counts[503] ?? 0), 20);
  assert.equal(app.millraceGuard.stats().queued, 0);
});

test('a client that leaves while its request waits: its handler does not run', async (t) => {
  let ran = 0;
  const app = await listening(t, { guard: { maxWait: 600_000 } }, (app) => {
    app.get('/hold', () => {
      block(100);
      return 'held';
    });
    app.get('/', () => {
      ran++;
      return 'answered';
    });
  });
  const guard = app.millraceGuard;
  const holds = many(5, () => get(app, '/hold'));
  const left = Array.from({ length: 10 }, () => ask(app, '/').on('error', () => {}));
  await until(() => guard.stats().queued > 0);
  for (const request of left) request.destroy();
  await holds;
  await until(() => guard.stats().queued === 0 && guard.stats().inFlight === 0);
  const { normal } = guard.stats().classes;
  assert.equal(normal.admitted, ran + 5);
  assert.equal(
    Object.values(normal.shed).reduce((sum, n) => sum + n),
    0,
  );
});

test('a body that comes while its request waits is there when it is its turn', async (t) => {
  const app = await listening(t, { guard: { maxWait: 600_000 } }, (app) => {
    app.post('/', ({ body }) => {
      block(5);
      return body;
    });
  });
  const { port } = app.server.address();
  const bodies = await many(20, async (i) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ i, text: 'x'.repeat(100_000) }),
    });
    return (await response.json()).i;
  });
  assert.deepEqual(bodies, [...Array(20).keys()]);
});
