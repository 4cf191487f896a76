/** Answers that are for one request alone: never kept, and never given to those who wait. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { cached } from '@millrace/guard/cached';
import connect from 'connect';
import express from 'express';
import fastify from 'fastify';
import onHeaders from 'on-headers';
import { patience } from '../patience.js';
import { begin, gate, listen, movableClock, requests, serve, shapes } from './shapes.js';

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
  'Cache-Control with another separator': [
    'cacheControl',
    { headers: { 'cache-control': 'max-age=60; private' } },
  ],
  'Cache-Control in quotes': ['cacheControl', { headers: { 'cache-control': '"private"' } }],
  'Vary that names no header': ['vary', { headers: { vary: 'x user' } }],
  'Cache-Control: no-cache': ['cacheControl', { headers: { 'cache-control': 'no-cache' } }],
  'Vary: *': ['vary', { headers: { vary: 'accept, *' } }],
  'status 206': ['partial', { status: 206 }],
  'a stream of events, in capitals': [
    'stream',
    { headers: { 'content-type': 'Text/Event-Stream' } },
  ],
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
  const clock = movableClock(t);
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
  clock.pass(61);
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

test('trailers that were not announced are for the one request', async (t) => {
  const handler = cached(
    (_req, res) => {
      res.write('x');
      res.addTrailers({ 'X-Sum': 'abc' });
      res.end();
    },
    { ttl: 60 },
  );
  const { port } = await listen(t, createServer(handler));
  for (const _ of [1, 2]) {
    const res = await begin(port, '/');
    res.resume();
    await once(res, 'end');
    assert.equal(res.trailers['x-sum'], 'abc');
  }
  assert.equal(handler.stats().notKept.stream, 1);
});

test('a cookie that a session adds when the head is sent is for the one request', async (t) => {
  let runs = 0;
  const app = express();
  app.use((req, res, next) => {
    const { writeHead } = res;
    res.writeHead = function (...args) {
      if (req.token) this.setHeader('Set-Cookie', `token=${req.token}`);
      return writeHead.apply(this, args);
    };
    next();
  });
  const handler = cached(
    (req, res) => {
      req.token = ++runs;
      res.end(`form ${req.token}`);
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(app.get('/', handler)));
  for (const run of [1, 2]) {
    const { text, headers } = await get('/');
    assert.deepEqual([text, headers['set-cookie']], [`form ${run}`, [`token=${run}`]]);
  }
  assert.equal(handler.stats().notKept.setCookie, 1);
});

test('Cache-Control of answers that are shared', async (t) => {
  const values = [
    'public, max-age=60',
    'Max-Age="60" , s-maxage=5,,',
    'ext="private, no-store \\" ;", immutable',
    '',
    ' , ',
  ];
  const answer = async (req) => ({
    headers: { 'cache-control': req.headers['x-value'] },
    body: '',
  });
  const { get } = await serve(t, 'node:http', answer, { ttl: 60 });
  for (const [n, value] of values.entries()) {
    await get(`/${n}`, { headers: { 'x-value': value } });
    const { headers } = await get(`/${n}`, { headers: { 'x-value': value } });
    assert.equal(headers.age, '0', value);
  }
});

const late = {
  'Cache-Control: private': ['Cache-Control', 'private'],
  'Cache-Control: no-store': ['Cache-Control', 'no-store'],
  'Cache-Control that cannot be parsed': ['Cache-Control', 'private;'],
  'Vary: *': ['Vary', '*'],
  'Vary: X-User': ['Vary', 'X-User'],
};

/** Ways in which middleware around says it after the handler has ended: by `setHeader` or in the arguments of `writeHead`. */
const sayings = {
  'on-headers': (name, value) => (_req, res, next) => {
    onHeaders(res, () => res.setHeader(name, value));
    next();
  },
  'arguments of writeHead': (name, value) => (_req, res, next) => {
    const { writeHead } = res;
    res.writeHead = function (status) {
      return writeHead.call(this, status, { [name]: value });
    };
    next();
  },
  'a head that is sent later': (name, value) => (_req, res, next) => {
    const { end } = res;
    res.end = (...args) => {
      setImmediate(() => end.apply(res.setHeader(name, value), args));
      return res;
    };
    next();
  },
};

for (const [what, [name, value]] of Object.entries(late)) {
  for (const [how, say] of Object.entries(sayings)) {
    test(`${what} counts although it comes last, by ${how}`, async (t) => {
      const answer = (req, res) => res.end(`for ${req.headers['x-user']}`);
      const handler = cached(answer, { ttl: 60 });
      const app = connect().use(say(name, value)).use(handler);
      const { get } = await listen(t, createServer(app));
      for (const user of ['alice', 'bob', 'alice']) {
        const { text, headers } = await get('/', { headers: { 'x-user': user } });
        assert.deepEqual([text, headers[name.toLowerCase()]], [`for ${user}`, value]);
      }
      // Only this one can be kept, for each user.
      assert.equal(handler.stats().hits, value === 'X-User' ? 1 : 0);
    });
  }
}

const early = {
  Express: (headers, handler) => {
    const app = express();
    app.use((_req, res, next) => next(void res.set(headers)));
    return createServer(app.get('/', handler));
  },
  Fastify: async (headers, handler) => {
    const app = fastify(patience);
    app.addHook('onRequest', async (_request, reply) => void reply.headers(headers));
    app.get('/', handler);
    await app.ready();
    return app.server;
  },
};

for (const [shape, make] of Object.entries(early)) {
  test(`${shape}: what was set before the handler says who may have its answer`, async (t) => {
    const answer = (req, res) => void res.send(`${req.headers['accept-language']}`);
    const ask = async (headers, options) => {
      const handler = cached(answer, { ttl: 10, ...options });
      const { get } = await listen(t, await make(headers, handler));
      return { handler, get: (language) => get('/', { headers: { 'accept-language': language } }) };
    };
    const varied = await ask({ vary: 'Accept-Language' });
    for (const language of ['de', 'en', 'de']) {
      assert.equal((await varied.get(language)).text, language);
    }
    assert.equal(varied.handler.stats().hits, 1);

    const owned = await ask({ 'cache-control': 'private' });
    for (const language of ['de', 'en']) assert.equal((await owned.get(language)).text, language);
    assert.equal(owned.handler.stats().notKept.cacheControl, 1);

    const strict = await ask(
      { 'cache-control': 'must-revalidate' },
      { ttl: 0, stale: 60, underPressure: () => true },
    );
    for (const language of ['de', 'en']) assert.equal((await strict.get(language)).text, language);
  });
}
