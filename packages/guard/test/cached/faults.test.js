/** Handlers and clients that fail: nobody is left without an answer, and nothing that failed is kept. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect as connectHttp2, constants, createServer as createHttp2Server } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, pipeline } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { cached } from '@millrace/guard/cached';
import express from 'express';
import fastify from 'fastify';
import { stillClock } from '../../../base/test/clocks.js';
import { patience } from '../patience.js';
import { begin, gate, listen, movableClock, requests, serve, shapes, whole } from './shapes.js';

/** What waits for the first of three identical requests, once all have come. */
async function three({ get, server }, reached) {
  const all = requests(server, 3);
  const answers = [get('/'), get('/'), get('/')];
  await Promise.all([reached(1), all]);
  return answers;
}

/** The errors that end the process unless somebody takes them; the test does. */
function rejections(t) {
  const seen = [];
  const take = (error) => seen.push(error.message);
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', take);
  t.after(() => {
    process.off('unhandledRejection', take);
    for (const each of before) process.on('unhandledRejection', each);
  });
  return seen;
}

for (const shape of ['Connect', 'Express', 'Fastify']) {
  test(`${shape}: an error of the handler is given to all who wait, by the framework's way`, async (t) => {
    const { pass, fail, reached } = gate();
    const answer = async (_req, run) => (run === 1 ? pass() : { body: 'well again' });
    const made = await serve(t, shape, answer, { ttl: 60 });
    const answers = await three(made, reached);
    fail(new Error('no database'));
    for (const { status, text } of await Promise.all(answers)) {
      assert.deepEqual([status, text], [500, 'told: no database']);
    }
    assert.equal(made.runs.length, 1);
    assert.equal(made.handler.stats().failed, 2);
    assert.equal((await made.get('/')).text, 'well again');
  });
}

test('node:http: an error of the handler is a 500 for all, and goes where it would have gone', async (t) => {
  const seen = rejections(t);
  const { pass, fail, reached } = gate();
  const answer = async (_req, run) => (run === 1 ? pass() : { body: 'well again' });
  const made = await serve(t, 'node:http', answer, { ttl: 60 });
  const answers = await three(made, reached);
  fail(new Error('no database'));
  for (const { status, text } of await Promise.all(answers)) {
    assert.deepEqual([status, text], [500, 'Internal Server Error']);
  }
  // Told once, not once for each who waited.
  assert.deepEqual(seen, ['no database']);
  assert.equal((await made.get('/')).text, 'well again');
});

test('node:http: the caller of the handler can take its error', async (t) => {
  const handler = cached(
    () => {
      throw new Error('at once');
    },
    { ttl: 60 },
  );
  const errors = [];
  const { get } = await listen(t, async (req, res) => {
    await handler(req, res).catch((error) => errors.push(error.message));
  });
  assert.equal((await get('/')).status, 500);
  assert.deepEqual(errors, ['at once']);
});

test('Express: next(error), and what throws at once', async (t) => {
  const thrower = cached(
    () => {
      throw new Error('thrown');
    },
    { ttl: 60 },
  );
  const teller = cached((_req, _res, next) => setImmediate(next, new Error('told')), { ttl: 60 });
  const app = express().get('/thrown', thrower).get('/told', teller);
  app.use((error, _req, res, _next) => res.status(500).send(error.message));
  const { get, server } = await listen(t, createServer(app));
  for (const path of ['/thrown', '/told']) {
    const all = requests(server, 3);
    const answers = [get(path), get(path), get(path)];
    await all;
    for (const { status, text } of await Promise.all(answers)) {
      assert.deepEqual([status, text], [500, path.slice(1)]);
    }
  }
});

test('a handler that fails after it began to answer: its client sees that, the others get the error', async (t) => {
  const { pass, fail, reached } = gate();
  const handler = cached(
    async (_req, res) => {
      res.write('a part');
      await pass();
    },
    { ttl: 60 },
  );
  const app = express().use(handler);
  app.use((error, _req, res, next) => {
    if (res.headersSent) return next(error);
    res.status(500).send(error.message);
  });
  const made = await listen(t, createServer(app));
  const leader = await begin(made.port, '/');
  await reached(1);
  const all = requests(made.server, 1);
  const other = made.get('/');
  await all;
  fail(new Error('half way'));
  await assert.rejects(whole(leader), { code: 'ECONNRESET' });
  const { status, text } = await other;
  assert.deepEqual([status, text], [500, 'half way']);
});

/**
 * Three identical requests of which the first runs a handler that does not answer, on a server that is made with a `timeout`. All have to
 * come within that time: where a busy machine is slower, it is tried anew with more.
 */
async function threeInTime(make) {
  for (let timeout = 100; ; timeout *= 4) {
    const made = await make(timeout);
    const runs = made.runs.length + 1;
    const answers = await three(made, made.reached);
    await Promise.race(answers);
    // One that came too late has run the handler itself.
    if (made.runs.length === runs) return { ...made, answers, timeout };
    made.open();
    await Promise.all(answers);
  }
}

for (const shape of shapes) {
  test(`${shape}: a handler that never answers holds nobody but its own request`, async (t) => {
    const made = await threeInTime(async (timeout) => {
      const { pass, ...door } = gate();
      const answer = async (_req, run) => {
        if (run === 1) await pass();
        return { body: `run ${run}` };
      };
      return { ...(await serve(t, shape, answer, { ttl: 60, timeout })), ...door };
    });
    const { answers, timeout, open } = made;
    const settled = await Promise.race(answers.map((each, at) => each.then(() => at)));
    const others = answers.filter((_, at) => at !== settled);
    const late = await Promise.any(others);
    assert.equal(late.status, 503);
    const said = `has not answered an identical GET within ${timeout} ms`;
    if (shape !== 'node:http') assert.ok(late.text.includes(said), late.text);
    assert.equal(made.handler.stats().timedOut, 2);
    // The next one tries anew, and what comes too late is for its own request alone.
    assert.equal((await made.get('/')).text, 'run 2');
    open();
    const texts = (await Promise.all(answers)).map(({ status, text }) => `${status} ${text}`);
    assert.ok(texts.includes('200 run 1'), texts.join());
    assert.equal((await made.get('/')).text, 'run 2');
  });
}

test('in place of an answer that does not come, a stale copy is given', async (t) => {
  const clock = movableClock(t);
  const { answers, open, handler } = await threeInTime(async (timeout) => {
    const { pass, ...door } = gate();
    const answer = async (_req, run) => {
      if (run === 2) await pass();
      return { body: `run ${run}` };
    };
    const made = await serve(t, 'node:http', answer, { ttl: 10, stale: 60, timeout });
    await made.get('/');
    clock.pass(20);
    return { ...made, ...door };
  });
  const given = await Promise.any(answers);
  assert.deepEqual([given.status, given.text, given.headers.age], [200, 'run 1', '20']);
  open();
  await Promise.all(answers);
  const { stale, timedOut } = handler.stats();
  assert.deepEqual({ stale, timedOut }, { stale: 2, timedOut: 0 });
});

test('a handler that answers twice: the first answer is everybody’s', async (t) => {
  stillClock(t);
  const handler = cached(
    (_req, res) => {
      // As without a cache, the rest is errors of the handler's.
      res.once('error', (error) => assert.equal(error.code, 'ERR_STREAM_WRITE_AFTER_END'));
      res.setHeader('x-own', '1');
      res.end('first');
      res.end('second');
      assert.throws(() => res.setHeader('x-own', '2'), { code: 'ERR_HTTP_HEADERS_SENT' });
      assert.throws(() => res.writeHead(500), { code: 'ERR_HTTP_HEADERS_SENT' });
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  for (const age of [undefined, '0']) {
    const { status, text, headers } = await get('/');
    assert.deepEqual([status, text, headers['x-own'], headers.age], [200, 'first', '1', age]);
  }
});

test('Fastify: a reply that is sent twice is sent once', async (t) => {
  const app = fastify(patience);
  const handler = cached(
    async (_request, reply) => {
      reply.send('first');
      return 'second';
    },
    { ttl: 60 },
  );
  app.get('/', handler);
  t.after(() => app.close());
  for (const hits of [0, 1]) {
    assert.equal((await app.inject('/')).body, 'first');
    assert.equal(handler.stats().hits, hits);
  }
});

const destroyers = {
  'destroys the response': (_req, res) => res.destroy(),
  'destroys the socket at once': (req) => req.socket.destroy(),
  'destroys the socket later': async (req) => {
    await new Promise((resolve) => setImmediate(resolve));
    req.socket.destroy();
  },
  'destroys the response after it returned': (_req, res) => {
    setImmediate(() => res.destroy());
  },
  'destroys the response half way': (_req, res) => {
    res.write('a part');
    setImmediate(() => res.destroy());
  },
};

for (const [what, destroy] of Object.entries(destroyers)) {
  test(`a handler that ${what}: nobody waits for it any longer`, async (t) => {
    let runs = 0;
    const handler = cached(
      async (req, res) => {
        runs++;
        if (runs > 1) res.end('well again');
        else {
          await once(server, 'third');
          await destroy(req, res);
        }
      },
      { ttl: 60 },
    );
    const server = createServer(handler);
    const { get } = await listen(t, server);
    const all = requests(server, 3);
    const answers = Promise.allSettled([get('/'), get('/'), get('/')]);
    await all;
    server.emit('third');
    const results = await answers;
    const texts = results.map(({ value, reason }) => value?.text ?? reason.code).sort();
    assert.deepEqual(texts, ['ECONNRESET', 'well again', 'well again']);
    assert.equal(runs, 2);
    assert.equal(handler.stats().cut, 1);
  });
}

test('a handler that destroys every connection: each is, and none hangs', async (t) => {
  const { pass, open, reached } = gate();
  let runs = 0;
  const handler = cached(
    async (req) => {
      if (++runs === 1) await pass();
      req.socket.destroy();
    },
    { ttl: 60 },
  );
  const { get, server } = await listen(t, createServer(handler));
  const all = requests(server, 8);
  const answers = Promise.allSettled(Array.from({ length: 8 }, () => get('/')));
  await Promise.all([reached(1), all]);
  open();
  for (const { reason } of await answers) assert.equal(reason.code, 'ECONNRESET');
  assert.equal(runs, 8);
  // Three runs one after the other, and then the rest at once.
  const { misses, bypassed } = handler.stats();
  assert.deepEqual([misses, bypassed.unshared], [3, 5]);
});

/** A request whose client leaves when it is told to; resolves when the server knows. */
async function leaver(port, server, path = '/') {
  const came = once(server, 'request');
  const req = request({ port, host: '127.0.0.1', path, agent: false });
  req.on('error', () => {});
  req.end();
  const [, res] = await came;
  const closed = once(res, 'close');
  return async () => {
    req.destroy();
    await closed;
  };
}

for (const shape of shapes) {
  test(`${shape}: the work for a client that left goes on for those who wait`, async (t) => {
    stillClock(t);
    const { pass, open, reached } = gate();
    const body = 'x'.repeat(100_000);
    const answer = async () => {
      await pass();
      return { body };
    };
    const made = await serve(t, shape, answer, { ttl: 60 });
    const leave = await leaver(made.port, made.server);
    await reached(1);
    const all = requests(made.server, 2);
    const others = [made.get('/'), made.get('/')];
    await all;
    await leave();
    open();
    for (const { status, text } of await Promise.all(others)) {
      assert.deepEqual([status, text.length], [200, body.length]);
    }
    assert.equal(made.runs.length, 1);
    assert.equal((await made.get('/')).headers.age, '0');
  });

  test(`${shape}: an error for a client that left is not that of those who wait`, async (t) => {
    const { pass, fail, reached } = gate();
    const seen = rejections(t);
    const answer = async (_req, run) => (run === 1 ? pass() : { body: 'well' });
    const made = await serve(t, shape, answer, { ttl: 60 });
    const leave = await leaver(made.port, made.server);
    await reached(1);
    const all = requests(made.server, 2);
    const others = [made.get('/'), made.get('/')];
    await all;
    await leave();
    fail(new Error('aborted'));
    for (const { status, text } of await Promise.all(others)) {
      assert.deepEqual([status, text], [200, 'well']);
    }
    assert.equal(made.runs.length, 2);
    assert.deepEqual(seen, shape === 'node:http' ? ['aborted'] : []);
  });
}

test('a client that left before the first byte: what is written in pieces counts as written', async (t) => {
  const { pass, open, reached } = gate();
  let runs = 0;
  const handler = cached(
    async (_req, res) => {
      runs++;
      await pass();
      const write = promisify(res.write.bind(res));
      for (const piece of ['one ', 'two ', 'three']) await write(piece);
      res.end();
    },
    { ttl: 60 },
  );
  const { port, server, get } = await listen(t, createServer(handler));
  const leave = await leaver(port, server);
  await reached(1);
  const all = requests(server, 2);
  const others = [get('/'), get('/')];
  await all;
  await leave();
  open();
  for (const { text } of await Promise.all(others)) assert.equal(text, 'one two three');
  assert.equal(runs, 1);
});

test('an answer in pieces, cut short by its client, is begun again for those who wait', async (t) => {
  const { pass, open, reached } = gate();
  let runs = 0;
  const handler = cached(
    async (_req, res) => {
      const source = new PassThrough();
      const run = ++runs;
      pipeline(source, res, () => {});
      source.write(`run ${run}, `);
      await pass();
      source.end('whole');
    },
    { ttl: 60 },
  );
  const { port, server, get } = await listen(t, createServer(handler));
  const leader = await begin(port, '/');
  await reached(1);
  const all = requests(server, 2);
  const others = [get('/'), get('/')];
  await all;
  leader.destroy();
  await reached(2);
  open();
  for (const { text } of await Promise.all(others)) assert.equal(text, 'run 2, whole');
  assert.equal(runs, 2);
  assert.equal(handler.stats().cut, 1);
});

test('a client that left before its turn gets no run of its own', async (t) => {
  const { pass, open, reached } = gate();
  const answer = async () => {
    await pass();
    return { body: 'once' };
  };
  const made = await serve(t, 'node:http', answer, { ttl: 60 });
  const first = made.get('/');
  await reached(1);
  const leave = await leaver(made.port, made.server);
  await leave();
  open();
  assert.equal((await first).text, 'once');
  assert.equal(made.runs.length, 1);
  assert.equal(made.handler.stats().gone, 1);
});

test('a client that reads nothing holds up nobody else', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  const size = 16 * 1024 * 1024;
  writeFileSync(file, Buffer.alloc(size, 'x'));
  const handler = cached((_req, res) => createReadStream(file).pipe(res), {
    ttl: 60,
    maxBytes: size,
    maxStoreBytes: 2 * size,
  });
  const { port, server, get } = await listen(t, createServer(handler));
  const came = once(server, 'request');
  const slow = connectSocket(port, '127.0.0.1');
  t.after(() => slow.destroy());
  slow.pause();
  slow.write('GET / HTTP/1.1\r\nHost: 127.0.0.1:' + port + '\r\n\r\n');
  await came;
  assert.equal((await get('/')).body.length, size);
  const { misses, deduplicated, entries } = handler.stats();
  assert.deepEqual({ misses, deduplicated, entries }, { misses: 1, deduplicated: 1, entries: 1 });
});

test('a stream that fails half way is not kept', async (t) => {
  stillClock(t);
  let runs = 0;
  const handler = cached(
    (_req, res) => {
      const source = new PassThrough();
      pipeline(source, res, () => {});
      source.write('a part');
      if (++runs === 1) setImmediate(() => source.destroy(new Error('read error')));
      else source.end(', and the rest');
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  await assert.rejects(get('/'), { code: 'ECONNRESET' });
  assert.equal(handler.stats().entries, 0);
  assert.equal((await get('/')).text, 'a part, and the rest');
  assert.equal((await get('/')).headers.age, '0');
});

test('Fastify: a stream that fails half way is not kept', async (t) => {
  stillClock(t);
  let runs = 0;
  const app = fastify(patience);
  const handler = cached(
    async () => {
      const source = new PassThrough();
      source.write('a part');
      if (++runs === 1) setTimeout(() => source.destroy(new Error('read error')), 20);
      else source.end(', and the rest');
      return source;
    },
    { ttl: 60 },
  );
  app.get('/', handler);
  await app.ready();
  const { get } = await listen(t, app.server);
  await assert.rejects(get('/'), { code: 'ECONNRESET' });
  assert.equal(handler.stats().entries, 0);
  assert.equal((await get('/')).text, 'a part, and the rest');
  assert.equal((await get('/')).headers.age, '0');
});

/** Middleware whose own method of the response throws for those who ask for it. */
function fragile(req, res) {
  const { end } = res;
  res.end = (...args) => {
    if (req.headers['x-bad'] && !res.fixed) throw new Error('broken end');
    return end.apply(res, args);
  };
}

const bad = { headers: { 'x-bad': '1' } };

test('Express: what throws where an answer is given to somebody else goes to the error handler', async (t) => {
  const { pass, open, reached } = gate();
  const app = express();
  app.use((req, res, next) => next(void fragile(req, res)));
  app.use(cached((_req, res) => void pass().then(() => res.end('x')), { ttl: 60 }));
  app.use((error, _req, res, _next) => {
    res.fixed = true;
    res.status(500).end(`told: ${error.message}`);
  });
  const { get, server } = await listen(t, createServer(app));
  const first = get('/');
  await reached(1);
  const all = requests(server, 1);
  const waiter = get('/', bad);
  await all;
  open();
  assert.equal((await first).text, 'x');
  const hit = get('/', bad);
  for (const { status, text } of await Promise.all([waiter, hit])) {
    assert.deepEqual([status, text], [500, 'told: broken end']);
  }
});

test('Fastify: what throws after the hijack still ends the request', async (t) => {
  const app = fastify(patience);
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = reply;
    const { writeHead } = raw;
    raw.writeHead = (...args) => {
      if (request.headers['x-bad'] && raw.statusCode !== 500) throw new Error('broken head');
      return writeHead.apply(raw, args);
    };
  });
  app.get(
    '/',
    cached(async () => 'x', { ttl: 60 }),
  );
  await app.ready();
  const { get } = await listen(t, app.server);
  assert.equal((await get('/')).text, 'x');
  const { status, text } = await get('/', bad);
  assert.deepEqual([status, text], [500, 'Internal Server Error']);
});

test('node:http: what throws there is for the caller, and its client does not hang', async (t) => {
  const handler = cached((_req, res) => res.end('x'), { ttl: 60 });
  const errors = [];
  const { get } = await listen(t, async (req, res) => {
    fragile(req, res);
    await handler(req, res).catch((error) => errors.push(error.message));
  });
  await get('/');
  // Its end throws for the error as well: the connection is closed.
  await assert.rejects(get('/', bad), { code: 'ECONNRESET' });
  assert.deepEqual(errors, ['broken end']);
});

test('Connect: a `next` that throws is an error for the caller, and a 500 for all who wait', async (t) => {
  const { pass, open, reached } = gate();
  const handler = cached((_req, _res, next) => pass().then(() => next(new Error('boom'))), {
    ttl: 60,
  });
  const errors = [];
  const { get, server } = await listen(t, async (req, res) => {
    const next = (error) => {
      throw error;
    };
    await handler(req, res, next).catch((error) => errors.push(error.message));
  });
  const all = requests(server, 2);
  const answers = [get('/'), get('/')];
  await Promise.all([reached(1), all]);
  open();
  for (const { status } of await Promise.all(answers)) assert.equal(status, 500);
  assert.deepEqual(errors, ['boom', 'boom']);
});

test('node:http: an error after the answer leaves the answer whole', async (t) => {
  const size = 8 * 1024 * 1024;
  const handler = cached(
    async (_req, res) => {
      res.end('x'.repeat(size));
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('after it');
    },
    { ttl: 60, maxBytes: size },
  );
  const errors = [];
  const { port } = await listen(t, async (req, res) => {
    await handler(req, res).catch((error) => errors.push(error.message));
  });
  const res = await begin(port, '/');
  // Not read until the error is there, so that a part of the answer is still to be sent.
  while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await whole(res)).body.length, size);
});

test('a HEAD that waited too long is refused without a body', async (t) => {
  // On a busy machine the second may come when the first has been given up: then it runs the handler, too, and waits for nobody.
  for (let timeout = 30, told = null; told === null; timeout *= 4) {
    const { pass, open, reached } = gate();
    const handler = cached((_req, res) => void pass().then(() => res.end()), { ttl: 60, timeout });
    const server = createServer({ rejectNonStandardBodyWrites: true }, handler);
    const { get } = await listen(t, server);
    const answers = [get('/', { method: 'HEAD' }), get('/', { method: 'HEAD' })];
    told = await Promise.race([Promise.any(answers), reached(2).then(() => null)]);
    assert.ok(told === null || told.status === 503);
    open();
    await Promise.all(answers);
  }
});

test('a handler that gives up when its client leaves: another run is made for those who wait', async (t) => {
  let runs = 0;
  const { pass, open, reached } = gate();
  const handler = cached(
    (_req, res) => {
      const run = ++runs;
      let isGone = false;
      res.once('close', () => {
        isGone = true;
      });
      pass().then(() => {
        if (!isGone) res.end(`run ${run}`);
      });
    },
    { ttl: 60 },
  );
  const { port, server, get } = await listen(t, createServer(handler));
  const leave = await leaver(port, server);
  await reached(1);
  const all = requests(server, 2);
  const others = [get('/'), get('/')];
  await all;
  await leave();
  open();
  await reached(1);
  open();
  for (const { text } of await Promise.all(others)) assert.equal(text, 'run 2');
  assert.equal(handler.stats().cut, 1);
});

/** A server of HTTP/2; each `get` has a session of its own, which is closed when the test ends. */
async function listenHttp2(t, handler) {
  const server = createHttp2Server(handler);
  const sessions = [];
  t.after(() => {
    for (const session of sessions) session.destroy();
  });
  const { port } = await listen(t, server);
  const start = () => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    sessions.push(session);
    return session.request({ ':path': '/' }).on('error', () => {});
  };
  const get = async () => {
    let text = '';
    for await (const chunk of start()) text += chunk;
    return text;
  };
  return { server, start, get };
}

test('HTTP/2: a client that left before the first byte: what is written in pieces counts as written', async (t) => {
  let runs = 0;
  const { pass, open, reached } = gate();
  const handler = cached(
    async (_req, res) => {
      runs++;
      await pass();
      const write = promisify(res.write.bind(res));
      for (const piece of ['one ', 'two ']) await write(piece);
      res.end('three');
    },
    { ttl: 60 },
  );
  const { server, start, get } = await listenHttp2(t, handler);
  const came = once(server, 'request');
  const leader = start();
  const [, res] = await came;
  await reached(1);
  const all = requests(server, 2);
  const others = [get(), get()];
  await all;
  const closed = once(res, 'close');
  leader.close(constants.NGHTTP2_CANCEL);
  await closed;
  open();
  for (const text of await Promise.all(others)) assert.equal(text, 'one two three');
  assert.equal(runs, 1);
});

test('HTTP/2: a handler that answers through the stream: those who wait run it themselves', async (t) => {
  let runs = 0;
  const { pass, open, reached } = gate();
  const handler = cached(
    async (_req, res) => {
      if (++runs === 1) await pass();
      res.stream.respond({ ':status': 200 });
      res.stream.end('direct');
    },
    { ttl: 60 },
  );
  const { server, get } = await listenHttp2(t, handler);
  const all = requests(server, 2);
  const answers = [get(), get()];
  await Promise.all([reached(1), all]);
  open();
  for (const text of await Promise.all(answers)) assert.equal(text, 'direct');
  assert.equal(runs, 2);
});
