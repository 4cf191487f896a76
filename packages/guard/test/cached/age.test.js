/** How long a copy is served, and under pressure. The clock for ages is one that the test moves. */
import assert from 'node:assert/strict';
import { Agent, createServer } from 'node:http';
import { test } from 'node:test';
import { Guard, guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import fastify from 'fastify';
import { wallClock } from '../../../base/test/clocks.js';
import { enduring, exactClock } from '../http/wire.js';
import { patience } from '../patience.js';
import { ask, gate, listen, movableClock, requests, serve, shapes } from './shapes.js';

const warning = '110 - "Response is Stale"';
const numbered = async (_req, run) => ({ body: `run ${run}` });

for (const shape of shapes) {
  test(`${shape}: fresh, then anew, then stale under pressure, then anew when it is over`, async (t) => {
    const clock = movableClock(t);
    let pressure = false;
    const options = { ttl: 10, stale: 60, underPressure: () => pressure };
    const { get, handler } = await serve(t, shape, numbered, options);
    const expect = async (text, age, isStale = false) => {
      const { text: given, headers } = await get('/');
      const told = { text: given, age: headers.age, warning: headers.warning };
      assert.deepEqual(told, { text, age, warning: isStale ? warning : undefined });
    };
    await expect('run 1', undefined);
    clock.pass(9);
    await expect('run 1', '9');
    pressure = true;
    await expect('run 1', '9');
    pressure = false;
    clock.pass(2);
    await expect('run 2', undefined);
    pressure = true;
    clock.pass(69);
    await expect('run 2', '69', true);
    await expect('run 2', '69', true);
    pressure = false;
    await expect('run 3', undefined);
    pressure = true;
    clock.pass(71);
    // Older than ttl and stale together: pressure or not.
    await expect('run 4', undefined);
    const { hits, stale, misses } = handler.stats();
    assert.deepEqual({ hits, stale, misses }, { hits: 2, stale: 2, misses: 4 });
  });
}

test('without stale, pressure changes nothing', async (t) => {
  const clock = movableClock(t);
  const { get } = await serve(t, 'node:http', numbered, { ttl: 10, underPressure: () => true });
  await get('/');
  clock.pass(11);
  assert.equal((await get('/')).text, 'run 2');
});

test('with a ttl of 0 copies are kept for pressure', async (t) => {
  let pressure = false;
  const options = { ttl: 0, stale: 60, underPressure: () => pressure };
  const { get } = await serve(t, 'node:http', numbered, options);
  await get('/');
  assert.equal((await get('/')).text, 'run 2');
  pressure = true;
  const { text, headers } = await get('/');
  assert.deepEqual([text, headers.warning], ['run 2', warning]);
});

for (const directive of ['must-revalidate', 'proxy-revalidate', 'public, Must-Revalidate']) {
  test(`${directive}: not served stale`, async (t) => {
    const clock = movableClock(t);
    const answer = async (_req, run) => ({
      headers: { 'cache-control': directive },
      body: `run ${run}`,
    });
    const options = { ttl: 10, stale: 60, underPressure: () => true };
    const { get } = await serve(t, 'node:http', answer, options);
    await get('/');
    clock.pass(5);
    assert.equal((await get('/')).text, 'run 1');
    clock.pass(6);
    assert.equal((await get('/')).text, 'run 2');
  });
}

test('a Warning of the handler stays beside', async (t) => {
  const clock = movableClock(t);
  const answer = async () => ({ headers: { warning: '199 - "own"' }, body: '' });
  const options = { ttl: 10, stale: 60, underPressure: () => true };
  const { get } = await serve(t, 'node:http', answer, options);
  await get('/');
  clock.pass(11);
  assert.equal((await get('/')).headers.warning, `199 - "own", ${warning}`);
});

test('a clock that is set back on the wall changes no age', async (t) => {
  movableClock(t);
  const { now } = wallClock;
  const { get } = await serve(t, 'node:http', numbered, { ttl: 60 });
  await get('/');
  for (const jump of [-3_600_000, 3_600_000]) {
    t.mock.method(wallClock, 'now', () => now() + jump);
    const { text, headers } = await get('/');
    assert.deepEqual([text, headers.age], ['run 1', '0']);
  }
});

test('a function underPressure that throws fails the request, not the process', async (t) => {
  const clock = movableClock(t);
  const underPressure = () => {
    throw new Error('no idea');
  };
  const options = { ttl: 10, stale: 60, underPressure };
  const { get } = await serve(t, 'Express', numbered, options);
  await get('/');
  clock.pass(11);
  const { status, text } = await get('/');
  assert.deepEqual([status, text], [500, 'told: no idea']);
});

test('in Fastify the pressure is that of its server, unless a guard or a function is given', async (t) => {
  const clock = movableClock(t);
  let pressure = false;
  const app = fastify(patience).decorate('isUnderPressure', () => pressure);
  let runs = 0;
  app.get(
    '/',
    cached(async () => `run ${++runs}`, { ttl: 10, stale: 600 }),
  );
  app.get(
    '/own',
    cached(async () => `run ${++runs}`, { ttl: 10, stale: 600, underPressure: () => false }),
  );
  t.after(() => app.close());
  const texts = async () => [(await app.inject('/')).body, (await app.inject('/own')).body];
  assert.deepEqual(await texts(), ['run 1', 'run 2']);
  clock.pass(11);
  pressure = true;
  assert.deepEqual(await texts(), ['run 1', 'run 3']);
  pressure = false;
  assert.deepEqual(await texts(), ['run 4', 'run 3']);
});

test("the guard's pressure counts", async (t) => {
  const clock = movableClock(t);
  const source = { underPressure: false, caches: new Set() };
  const { get } = await serve(t, 'node:http', numbered, { ttl: 10, stale: 60, guard: source });
  await get('/');
  clock.pass(11);
  source.underPressure = true;
  assert.equal((await get('/')).text, 'run 1');
  source.underPressure = false;
  assert.equal((await get('/')).text, 'run 2');
});

test('a guard has the request answered with a copy that it would have shed', async (t) => {
  const clock = movableClock(t);
  const g = new Guard();
  t.after(() => g.close());
  const handler = cached((_req, res) => res.end('kept'), { ttl: 10, stale: 60, guard: g });
  const { get } = await listen(t, createServer(handler));
  await get('/');
  await get('/strict');
  const [cache] = g.caches;
  assert.equal(g.caches.size, 1);
  // What a guard calls in place of the application.
  const { get: shed } = await listen(t, async (req, res) => {
    req.headers.host = req.headers['x-host'];
    if (!(await cache.answer(req, res))) res.writeHead(503).end();
    // Nobody is answered twice.
    assert.equal(await cache.answer(req, res), false);
  });
  const { port } = await listen(t, createServer(handler));
  const host = { 'x-host': `127.0.0.1:${port}` };
  await ask(port, '/');
  const fresh = await shed('/', { headers: host });
  assert.deepEqual([fresh.status, fresh.text, fresh.headers.warning], [200, 'kept', undefined]);
  clock.pass(30);
  const stale = await shed('/', { headers: host });
  assert.deepEqual(
    [stale.status, stale.text, stale.headers.age, stale.headers.warning],
    [200, 'kept', '30', warning],
  );
  const head = await shed('/', { headers: host, method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '4', '']);
  assert.equal((await shed('/other', { headers: host })).status, 503);
  assert.equal((await shed('/', { headers: { ...host, cookie: 'a=1' } })).status, 503);
  assert.equal((await shed('/', { headers: host, method: 'POST' })).status, 503);
  clock.pass(41);
  assert.equal((await shed('/', { headers: host })).status, 503);
  assert.equal(handler.stats().shed, 3);
});

test('a key that needs more than the bare request leaves it to the guard to refuse', async (t) => {
  const g = new Guard();
  t.after(() => g.close());
  const key = (req) => req.params.id.toString();
  const handler = cached((_req, res) => res.end('kept'), { ttl: 10, guard: g, key });
  const [cache] = g.caches;
  const { get } = await listen(t, async (req, res) => {
    if (req.url === '/?routed') handler(Object.assign(req, { params: { id: 1 } }), res);
    else res.end(String(await cache.answer(req, res)));
  });
  assert.equal((await get('/?routed')).text, 'kept');
  assert.equal((await get('/')).text, 'false');
  assert.equal(handler.stats().shed, 0);
});

test('guard(server): while the loop is blocked for others, a cached answer is given to all', async (t) => {
  const clock = exactClock(t);
  const server = createServer(enduring);
  // Blocking requests come first, whatever the others cost.
  const g = guard(server, { maxWait: 30, rejectDelay: 0, classes: { '/slow': 'high' } });
  t.after(() => g.close());
  const page = cached((_req, res) => res.end('page'), { ttl: 0, stale: 600, guard: g });
  let blocked = 0;
  server.on('request', (req, res) => {
    if (req.url === '/page') return page(req, res);
    blocked++;
    clock.pass(40);
    return res.end('slow');
  });
  const { get } = await listen(t, server);
  // Connections that are open already: requests on new ones come in one at a time, each when the loop is free again.
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const many = (path) => Array.from({ length: 40 }, () => get(path, { agent }));
  await get('/page', { agent });
  await Promise.all([...many('/page'), ...many('/page')]);
  const before = page.stats();
  const counted = before.shed + before.hits + before.stale + before.misses + before.deduplicated;
  assert.equal(counted, 81);
  assert.equal((await get('/slow')).status, 200);
  const slow = many('/slow');
  const pages = many('/page');
  for (const { status, text } of await Promise.all(pages)) {
    assert.deepEqual([status, text], [200, 'page']);
  }
  const statuses = (await Promise.all(slow)).map(({ status }) => status);
  const refused = statuses.filter((status) => status === 503).length;
  assert.ok(refused > 0, 'the guard shed nothing: the test proves nothing');
  assert.equal(statuses.filter((status) => status === 200).length, 40 - refused);
  assert.equal(blocked, 41 - refused);
  const { shed, hits, stale, misses, deduplicated } = page.stats();
  assert.ok(shed > 0);
  assert.equal(shed + hits + stale + misses + deduplicated, 121);
  assert.equal(g.stats().classes.normal.stale, shed);
});

test('requests that wait when pressure begins get the response in progress', async (t) => {
  const clock = movableClock(t);
  const { pass, open, reached } = gate();
  let pressure = false;
  const answer = async (_req, run) => {
    if (run === 2) await pass();
    return { body: `run ${run}` };
  };
  const options = { ttl: 10, stale: 60, underPressure: () => pressure };
  const { get, server } = await serve(t, 'node:http', answer, options);
  await get('/');
  clock.pass(11);
  const all = requests(server, 2);
  const answers = [get('/'), get('/')];
  await Promise.all([reached(1), all]);
  pressure = true;
  open();
  for (const { text } of await Promise.all(answers)) assert.equal(text, 'run 2');
});

test('the age of what was a copy before it came here counts on', async (t) => {
  const clock = movableClock(t);
  const answer = async () => ({ headers: { age: '500' }, body: 'from a cache' });
  const { get } = await serve(t, 'node:http', answer, { ttl: 60 });
  assert.equal((await get('/')).headers.age, '500');
  clock.pass(7);
  assert.equal((await get('/')).headers.age, '507');
});
