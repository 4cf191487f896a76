// What the guard decides, seen from outside: who runs, who waits, who is turned away and why.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import { wallClock } from '../../../base/test/clocks.js';
import {
  BUSY_MS,
  block,
  connect,
  connectAll,
  deferred,
  exactClock,
  patient,
  serve,
  turn,
} from '../http/wire.js';

const sum = (counts) => Object.values(counts).reduce((a, b) => a + b);

/** A guarded server whose handler is chosen by path, with so many connections. */
async function guarded(t, options, handlers, connections) {
  const ran = [];
  const { server } = await serve(t, (req, res) => {
    const path = req.url.split('?')[0];
    ran.push(req.url);
    handlers[path](req, res);
  });
  const g = guard(server, options);
  t.after(() => g.close());
  const clients = await connectAll(t, server, connections);
  return { g, server, clients, ran };
}

const busy = {
  '/busy': (_req, res) => {
    block();
    res.end();
  },
};

/** As `busy`, and by a clock that nothing else moves. */
function exactlyBusy(t) {
  const clock = exactClock(t);
  return {
    '/busy': (_req, res) => {
      block();
      clock.pass(BUSY_MS);
      res.end();
    },
  };
}

test('a request that would wait longer than its class may is refused at once, by reason wait', async (t) => {
  const told = [];
  const maxWait = { high: 1000 * BUSY_MS, normal: 4.5 * BUSY_MS, low: 0.5 * BUSY_MS + 1 };
  const { g, clients } = await guarded(
    t,
    { maxWait, rejectDelay: 0, classHeader: 'x-class', onShed: (info) => told.push(info) },
    exactlyBusy(t),
    12,
  );
  // The first tells what it costs.
  assert.equal(await clients[0].send('/busy').status(), 200);
  for (const client of clients.slice(0, 9)) client.send('/busy');
  for (const client of clients.slice(9, 11)) {
    client.send('/busy', { headers: { 'X-Class': 'low' } });
  }
  clients[11].send('/busy', { headers: { 'X-Class': 'high' } });
  const statuses = await Promise.all(clients.map((client) => client.status()));
  assert.equal(statuses[11], 200);
  assert.deepEqual(statuses.slice(9, 11), [503, 503]);
  const normal = statuses.slice(0, 9);
  assert.ok(normal.includes(200) && normal.includes(503), `${normal}`);
  const { classes, routes } = g.stats();
  assert.equal(classes.low.shed.wait, 2);
  assert.equal(classes.high.admitted, 1);
  assert.equal(told.length, sum(classes.normal.shed) + 2);
  for (const { class: cls, route, reason, waitMs, req } of told) {
    assert.ok(['normal', 'low'].includes(cls));
    assert.equal(route, 'GET /busy');
    assert.ok(['wait', 'age'].includes(reason));
    assert.ok(waitMs > 0);
    assert.equal(req.url, '/busy');
  }
  assert.equal(routes[0].shed, told.length);
  assert.equal(g.underPressure, true);
});

test('one of a low class is turned away for its age while a higher one never ends', async (t) => {
  const { g, clients, ran } = await guarded(
    t,
    {
      maxWait: { high: 600_000, normal: 600_000, low: 40 * BUSY_MS },
      ...{ rejectDelay: 0, classes: { '/busy': 'high', '/low': 'low' } },
    },
    { ...exactlyBusy(t), '/low': (_req, res) => res.end() },
    9,
  );
  const [low, ...others] = clients;
  let isOver = false;
  let ended = 0;
  // So many that some always wait.
  const sending = others.map(async (client) => {
    for (let n = 0; n < 60 && !isOver; n++) {
      client.send('/busy');
      assert.equal(await client.status(), 200);
    }
    ended++;
  });
  while (ran.length < others.length) await turn();
  low.send('/low');
  assert.equal(await low.status(), 503);
  assert.equal(ended, 0);
  isOver = true;
  await Promise.all(sending);
  assert.equal(g.stats().classes.low.shed.age, 1);
});

test('a refusal tells when to come again', async (t) => {
  const { clients } = await guarded(
    t,
    { ...patient, maxQueue: 1, retryAfter: 17, message: 'Later, please' },
    busy,
    3,
  );
  for (const client of clients) client.send('/busy');
  const answers = await Promise.all(clients.map((client) => client.response()));
  const refused = answers.find(({ status }) => status === 503);
  assert.equal(refused.headers['retry-after'], '17');
  assert.equal(refused.body, 'Later, please');
});

test('one of a class above takes the place of one below in a full queue', async (t) => {
  const { g, clients, ran } = await guarded(
    t,
    { ...patient, maxQueue: 1, classes: { '/high': 'high', '/low': 'low' } },
    { ...busy, '/high': (_req, res) => res.end(), '/low': (_req, res) => res.end() },
    3,
  );
  const [first, low, high] = clients;
  first.send('/busy');
  low.send('/low');
  high.send('/high');
  assert.equal(await low.status(), 503);
  assert.equal(await high.status(), 200);
  assert.equal(await first.status(), 200);
  assert.deepEqual(ran, ['/busy', '/high']);
  assert.equal(g.stats().classes.low.shed.full, 1);
});

test('handlers that answer later are limited, and who waits for them is run when one is over', async (t) => {
  const open = [];
  const { g, clients, ran } = await guarded(
    t,
    { ...patient, concurrency: { initial: 2, max: 2 } },
    { '/later': (_req, res) => open.push(res) },
    5,
  );
  for (const client of clients) client.send('/later');
  while (open.length < 2) await turn();
  await turn();
  assert.equal(ran.length, 2);
  assert.equal(g.stats().queued, 3);
  assert.equal(g.stats().inFlight, 2);
  assert.equal(g.stats().concurrency, 2);
  open[0].end();
  while (open.length < 3) await turn();
  assert.equal(g.stats().queued, 2);
  for (let i = 1; i < 5; i++) {
    while (open.length <= i) await turn();
    open[i].end();
  }
  assert.deepEqual(
    await Promise.all(clients.map((client) => client.status())),
    [200, 200, 200, 200, 200],
  );
});

test('before an idle loop the limit grows by itself, and nobody is turned away', async (t) => {
  const open = [];
  const { g, clients } = await guarded(
    t,
    // A machine that is busy elsewhere makes the loop look busy, and the gate grows later.
    { ...patient, concurrency: { initial: 1, min: 1 } },
    { '/later': (_req, res) => open.push(res) },
    24,
  );
  for (const client of clients) client.send('/later');
  // None of them is over: only a gate that grows lets all in.
  while (open.length < 24) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(g.stats().concurrency >= 24);
  for (const res of open) res.end();
  for (const client of clients) assert.equal(await client.status(), 200);
  assert.equal(sum(g.stats().classes.normal.shed), 0);
});

test('an exempt request is not held up by those that wait, nor by the gate', async (t) => {
  const open = [];
  const { clients, ran } = await guarded(
    t,
    { ...patient, concurrency: { initial: 1, max: 1 } },
    { '/later': (_req, res) => open.push(res), '/health': (_req, res) => res.end('ok') },
    4,
  );
  for (const client of clients.slice(0, 3)) client.send('/later');
  while (open.length < 1) await turn();
  assert.equal((await clients[3].send('/health').response()).body, 'ok');
  assert.deepEqual(ran, ['/later', '/health']);
  for (let i = 0; i < 3; i++) {
    while (open.length <= i) await turn();
    open[i].end();
  }
  for (const client of clients.slice(0, 3)) await client.status();
});

test('observing, everything runs as it comes, and what would have been shed is counted', async (t) => {
  const options = { observe: true, maxWait: 2.5 * BUSY_MS };
  const { g, clients, ran } = await guarded(t, options, exactlyBusy(t), 10);
  for (const client of clients) client.send('/busy');
  for (const client of clients) assert.equal(await client.status(), 200);
  assert.equal(ran.length, 10);
  const { admitted, waited, shed, wouldShed } = g.stats().classes.normal;
  assert.equal(admitted, 10);
  assert.equal(waited, 0);
  assert.equal(sum(shed), 0);
  assert.ok(wouldShed.wait >= 5 && wouldShed.wait < 10, `${wouldShed.wait}`);
});

test('reports the route that kept the loop busy', async (t) => {
  const { g, clients } = await guarded(
    t,
    {},
    { ...exactlyBusy(t), '/quick': (_req, res) => res.end(), '/users/7': (_req, res) => res.end() },
    1,
  );
  for (const path of ['/quick', '/busy?n=1', '/quick', '/busy?n=2', '/users/7']) {
    assert.equal(await clients[0].send(path).status(), 200);
  }
  const { routes } = g.stats();
  assert.deepEqual(routes.map(({ route, count }) => `${route} ${count}`).sort(), [
    'GET /busy 2',
    'GET /quick 2',
    'GET /users/:id 1',
  ]);
  const [worst] = routes;
  assert.equal(worst.route, 'GET /busy');
  assert.ok(worst.busyMs >= 2 * BUSY_MS);
  assert.ok(worst.meanMs >= BUSY_MS && worst.maxMs >= worst.meanMs);
});

test('a clock that jumps changes nothing', async (t) => {
  const { now } = wallClock;
  const { g, clients } = await guarded(t, { rejectDelay: 0 }, exactlyBusy(t), 3);
  for (const jump of [1e9, -1e9]) {
    t.mock.method(wallClock, 'now', () => now() + jump);
    for (const client of clients) client.send('/busy');
    for (const client of clients) assert.equal(await client.status(), 200);
  }
  assert.equal(sum(g.stats().classes.normal.shed), 0);
});

test('classify, header and route name the class, in this order', async (t) => {
  const { g, clients } = await guarded(
    t,
    {
      classHeader: 'X-Class',
      classes: { '/low': 'low' },
      classify: (req) => (req.headers.admin === 'yes' ? 'exempt' : undefined),
    },
    {
      '/': (_req, res) => res.end(),
      '/low': (_req, res) => res.end(),
      '/health': (_req, res) => res.end(),
    },
    1,
  );
  const [client] = clients;
  const ask = (path, headers) => client.send(path, { headers }).status();
  await ask('/low', {});
  await ask('/low', { 'X-Class': 'HIGH' });
  await ask('/low', { 'X-Class': 'high', admin: 'yes' });
  await ask('/', { 'X-Class': 'exempt' });
  await ask('/', { 'X-Class': 'nonsense' });
  await ask('/health', { 'X-Class': 'low' });
  const { classes } = g.stats();
  assert.deepEqual(
    Object.fromEntries(Object.entries(classes).map(([name, { admitted }]) => [name, admitted])),
    { high: 1, normal: 2, low: 1, exempt: 2 },
  );
});

for (const [name, options, says] of [
  ['classify', { classify: () => 'urgent' }, /'classify' returned "urgent"/],
  ['route', { route: () => 7 }, /'route' returned 7/],
]) {
  test(`a bad result of ${name} is an error that says so`, async (t) => {
    const { server } = await serve(t, (_req, res) => res.end());
    const g = guard(server, options);
    t.after(() => g.close());
    const uncaught = deferred();
    process.setUncaughtExceptionCaptureCallback(uncaught.resolve);
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const client = await connect(t, server);
    client.send('/');
    const error = await uncaught.promise;
    assert.equal(error.code, 'MILLRACE_E_BAD_RESULT');
    assert.match(error.message, says);
  });
}

const stale = {
  'at once': (_req, res) => {
    res.end('stale');
    return true;
  },
  later: async (_req, res) => {
    await turn();
    res.end('stale');
    return true;
  },
  'after one that has none': [
    () => false,
    async () => false,
    (_req, res) => {
      res.end('stale');
      return true;
    },
  ],
};
for (const [name, answers] of Object.entries(stale)) {
  test(`a stale copy instead of a refusal: ${name}`, async (t) => {
    const { g, clients } = await guarded(t, { ...patient, maxQueue: 1 }, busy, 4);
    for (const answer of [answers].flat()) g.caches.add({ answer });
    for (const client of clients) client.send('/busy');
    const got = await Promise.all(clients.map((client) => client.response()));
    assert.deepEqual(
      got.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal(got.filter(({ body }) => body === 'stale').length, 2);
    const { stale: count, shed, admitted } = g.stats().classes.normal;
    assert.deepEqual([count, sum(shed), admitted], [2, 0, 2]);
  });
}

test('a cache that fails is as good as none, and is warned of', async (t) => {
  const { g, clients } = await guarded(t, { ...patient, maxQueue: 1 }, busy, 3);
  g.caches.add({
    answer: (_req, res) => {
      res.setHeader('ETag', '"of the copy"');
      throw new Error('no such key');
    },
  });
  const warning = new Promise((resolve) => process.once('warning', resolve));
  for (const client of clients) client.send('/busy');
  const answers = await Promise.all(clients.map((client) => client.response()));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 503]);
  assert.equal(answers.find(({ status }) => status === 503).headers.etag, undefined);
  assert.match((await warning).message, /cache of the guard failed/);
});

test('an onShed that throws is an uncaught exception, and those who wait go on', async (t) => {
  const errors = [];
  process.setUncaughtExceptionCaptureCallback((error) => errors.push(error.message));
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const { clients } = await guarded(
    t,
    {
      // What waits is trimmed after the first slice, and that is where it throws.
      maxWait: { normal: 2 * BUSY_MS },
      rejectDelay: 0,
      onShed: () => {
        throw new Error('no such metric');
      },
    },
    exactlyBusy(t),
    12,
  );
  for (const client of clients) client.send('/busy');
  const statuses = await Promise.all(clients.map((client) => client.status()));
  const refused = statuses.filter((status) => status === 503).length;
  assert.ok(refused > 0);
  assert.deepEqual(
    errors,
    Array.from({ length: refused }, () => 'no such metric'),
  );
  assert.equal(await clients[0].send('/busy').status(), 200);
});

test('a response that closes while its handler runs is over once', async (t) => {
  const { g, clients } = await guarded(
    t,
    patient,
    {
      ...busy,
      '/closing': (_req, res) => {
        res.emit('close');
        res.end();
      },
    },
    2,
  );
  // The second waits, so that the guard listens.
  clients[0].send('/busy');
  clients[1].send('/closing');
  for (const client of clients) assert.equal(await client.status(), 200);
  assert.equal(g.stats().inFlight, 0);
});

test('observing, what async handlers take of the loop later is reckoned with', async (t) => {
  const clock = exactClock(t);
  const later = {
    '/later': async (_req, res) => {
      await turn();
      clock.pass(BUSY_MS);
      res.end();
    },
  };
  const { g, clients } = await guarded(t, { observe: true, maxWait: 4 * BUSY_MS }, later, 40);
  // Until the guard knows what one costs.
  for (let i = 0; i < 40; i++) assert.equal(await clients[0].send('/later').status(), 200);
  const before = g.stats().classes.normal.wouldShed.wait;
  for (const client of clients) client.send('/later');
  for (const client of clients) assert.equal(await client.status(), 200);
  const { admitted, shed, wouldShed } = g.stats().classes.normal;
  assert.equal(admitted, 80);
  assert.equal(sum(shed), 0);
  assert.ok(wouldShed.wait - before >= 10, `${wouldShed.wait}`);
});
