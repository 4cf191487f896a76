/** Answers that are for one request alone: never kept, and never given to those who wait. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { cached } from 'millrace/guard';
import { gate, listen, requests, serve, shapes } from './shapes.js';

const cases = {
  'Set-Cookie': ['setCookie', { headers: { 'set-cookie': 'id=1' } }],
  'Set-Cookie in a list': ['setCookie', { headers: { 'set-cookie': ['id=1', 'b=2'] } }],
  'Cache-Control: no-store': ['cacheControl', { headers: { 'cache-control': 'No-Store' } }],
  'Cache-Control: private': [
    'cacheControl',
    { headers: { 'cache-control': 'max-age=9, private' } },
  ],
  'Cache-Control: private for a field': [
    'cacheControl',
    { headers: { 'cache-control': 'private="x-name"' } },
  ],
  'Cache-Control: no-cache': ['cacheControl', { headers: { 'cache-control': 'no-cache' } }],
  'Vary: *': ['vary', { headers: { vary: 'accept, *' } }],
  'status 206': ['partial', { status: 206 }],
  'a stream of events': ['stream', { headers: { 'content-type': 'text/event-stream' } }],
  'trailers to come': ['stream', { headers: { trailer: 'x-sum' } }],
  'more than maxBytes': ['size', { body: 'x'.repeat(2001) }],
};

for (const shape of shapes) {
  for (const [what, [reason, given]] of Object.entries(cases)) {
    // These two give a body its length; trailers are for one that comes in chunks.
    if (what === 'trailers to come' && ['Express', 'Fastify'].includes(shape)) continue;
    test(`${shape}: ${what}: each request has an answer of its own`, async (t) => {
      const { pass, open, reached } = gate();
      const answer = async (_req, run) => {
        if (run === 1) await pass();
        const { status, headers, body = 'mine' } = given;
        return { status, headers: { ...headers, 'x-run': run }, body };
      };
      const options = { ttl: 60, stale: 60, maxBytes: 2000, underPressure: () => true };
      const { get, server, handler, runs } = await serve(t, shape, answer, options);
      const all = requests(server, 3);
      const answers = [get('/'), get('/'), get('/')];
      await Promise.all([reached(1), all]);
      open();
      const given3 = (await Promise.all(answers)).map(({ headers }) => headers['x-run']);
      assert.deepEqual(given3.sort(), ['1', '2', '3']);
      assert.equal((await get('/')).headers['x-run'], '4');
      assert.equal(runs.length, 4);
      const stats = handler.stats();
      assert.equal(stats.notKept[reason], 1);
      assert.equal(stats.bypassed.unshared, 3);
      assert.equal(stats.entries, 0);
    });
  }
}

test('no one waits for a key whose answers are for one alone, until a ttl has passed', async (t) => {
  const { pass, open, reached } = gate();
  const { now } = performance;
  let ahead = 0;
  t.mock.method(performance, 'now', () => now.call(performance) + ahead);
  const answer = async (_req, run) => {
    if (run > 1) await pass();
    return run === 1 ? { headers: { 'set-cookie': 'id=1' }, body: '' } : { body: 'now for all' };
  };
  const { get, runs, handler } = await serve(t, 'node:http', answer, { ttl: 60 });
  await get('/');
  let answers = [get('/'), get('/')];
  await reached(2);
  open();
  await Promise.all(answers);
  assert.equal(runs.length, 3);
  ahead += 61_000;
  answers = [get('/')];
  await reached(1);
  open();
  await Promise.all(answers);
  assert.equal((await get('/')).headers.age, '0');
  assert.equal(runs.length, 4);
  assert.deepEqual([handler.stats().bypassed.unshared, handler.stats().hits], [2, 1]);
});

test('a body shorter or longer than it said is not kept', async (t) => {
  const handler = cached(
    (req, res) => {
      res.setHeader('content-length', 10);
      // Nobody minds if a message is to have no body.
      res.end(req.url === '/short' ? 'short' : 'ten bytes!');
      if (req.url === '/short') req.socket.end();
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  await assert.rejects(get('/short'), { code: 'ECONNRESET' });
  assert.equal(handler.stats().notKept.length, 1);
  assert.equal(handler.stats().entries, 0);
  await get('/whole');
  assert.equal(handler.stats().entries, 1);
});

test('at maxBytes it is kept, whole or in pieces; beyond it is given whole to the one', async (t) => {
  const handler = cached(
    (req, res) => {
      for (const size of req.url.slice(1).split('+')) res.write('x'.repeat(Number(size)));
      res.end();
    },
    { ttl: 60, maxBytes: 1000 },
  );
  const { get } = await listen(t, createServer(handler));
  for (const [path, length, kept] of [
    ['/1000', 1000, 1],
    ['/1001', 1001, 1],
    ['/500+500', 1000, 2],
    ['/999+1+1+70000', 71_001, 2],
  ]) {
    assert.equal((await get(path)).body.length, length);
    assert.equal(handler.stats().entries, kept, path);
  }
});

test('statuses that are kept can be chosen', async (t) => {
  const answer = async (req) => ({ status: Number(req.url.slice(1)), body: '' });
  const options = { ttl: 60, statuses: [200, 404, 301] };
  const { get, handler } = await serve(t, 'node:http', answer, options);
  for (const status of [200, 201, 301, 302, 404, 500]) {
    await get(`/${status}`);
    const kept = options.statuses.includes(status);
    const again = await get(`/${status}`);
    assert.deepEqual([again.status, again.headers.age], [status, kept ? '0' : undefined]);
  }
  assert.equal(handler.stats().entries, 3);
});

test('a 204 has no body, and is kept', async (t) => {
  const handler = cached((_req, res) => res.writeHead(204).end(), { ttl: 60 });
  const { get } = await listen(t, createServer(handler));
  for (const age of [undefined, '0']) {
    const { status, text, headers } = await get('/');
    assert.deepEqual([status, text, headers.age], [204, '', age]);
    assert.equal(headers['content-length'], undefined);
  }
});
