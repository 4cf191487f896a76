/** Among other middleware, routers, hooks and protocols. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { cached } from '@millrace/guard/cached';
import compression from 'compression';
import express from 'express';
import fastify from 'fastify';
import { stillClock } from '../../../base/test/clocks.js';
import { patience } from '../patience.js';
import { ask, content, listen } from './shapes.js';

test('headers that others set before are each request’s own', async (t) => {
  let runs = 0;
  let requests = 0;
  const app = express();
  app.use((req, res, next) => {
    requests++;
    res.set({ 'X-Request': requests, Vary: 'Origin', 'X-Old': 'old' });
    res.cookie?.('session', String(requests));
    next();
  });
  app.get(
    '/',
    cached(
      (_req, res) => {
        res.removeHeader('X-Old');
        res.set('X-Run', ++runs).json({ ok: true });
      },
      { ttl: 60 },
    ),
  );
  const { get } = await listen(t, createServer(app));
  for (const request of [1, 2, 3]) {
    const { headers, text } = await get('/');
    assert.equal(headers['x-request'], String(request));
    assert.match(headers['set-cookie'][0], new RegExp(`session=${request}`));
    assert.equal(headers['x-run'], '1');
    assert.equal(headers['x-old'], undefined);
    assert.equal(headers.vary, 'Origin');
    assert.equal(text, '{"ok":true}');
    assert.match(headers.etag, /^W\//);
  }
});

/** As middleware that compresses does it: puts itself before the methods of the response. */
function compress(req, res, next) {
  const { write, end } = res;
  const chunks = [];
  res.write = (chunk) => chunks.push(Buffer.from(chunk));
  res.end = (chunk) => {
    if (chunk) chunks.push(Buffer.from(chunk));
    res.write = write;
    res.end = end;
    const body = Buffer.concat(chunks);
    res.vary('Accept-Encoding');
    if (!/gzip/.test(req.headers['accept-encoding'] ?? '')) return res.end(body);
    res.removeHeader('Content-Length');
    res.setHeader('Content-Encoding', 'gzip');
    return res.end(gzipSync(body));
  };
  next();
}

for (const where of ['around it', 'inside of it']) {
  test(`compression ${where}: each client has what it can read`, async (t) => {
    let runs = 0;
    const answer = (_req, res) => res.type('text').send(`run ${++runs}`);
    const app = express();
    if (where === 'around it') {
      app.use(compress, cached(answer, { ttl: 60 }));
    } else {
      app.use(cached(express.Router().use(compress, answer), { ttl: 60 }));
    }
    const { get } = await listen(t, createServer(app));
    const gzip = { headers: { 'accept-encoding': 'gzip' } };
    const texts = [];
    for (const options of [undefined, gzip, undefined, gzip]) {
      const { headers, body, text } = await get('/', options);
      assert.equal(headers['content-encoding'], options && 'gzip');
      texts.push(options ? gunzipSync(body).toString() : text);
    }
    // Whoever has set `Vary`, the handler may have looked at these headers.
    assert.deepEqual(texts, ['run 1', 'run 2', 'run 1', 'run 2']);
  });
}

test('the package compression around it: kept for each encoding', async (t) => {
  let runs = 0;
  const answer = (_req, res) => res.type('text').send(`run ${++runs}`);
  const handler = cached(answer, { ttl: 60 });
  const app = express().use(compression({ threshold: 0 }), handler);
  const { get } = await listen(t, createServer(app));
  const gzip = { headers: { 'accept-encoding': 'gzip' } };
  const texts = [];
  for (const options of [undefined, gzip, undefined, gzip]) {
    const { headers, body, text } = await get('/', options);
    assert.equal(headers['content-encoding'], options && 'gzip');
    assert.equal(headers.vary, 'Accept-Encoding');
    texts.push(options ? gunzipSync(body).toString() : text);
  }
  assert.deepEqual(texts, ['run 1', 'run 2', 'run 1', 'run 2']);
  assert.equal(handler.stats().hits, 2);
});

test('HTTP/2: the host that a handler sees is the one of the key', async (t) => {
  const handler = cached((req, res) => res.end(`site of ${req.authority}`), { ttl: 60 });
  let session;
  t.after(() => session.destroy());
  const { port } = await listen(t, createHttp2Server(handler));
  session = connectHttp2(`http://127.0.0.1:${port}`);
  const get = async (headers) => {
    let text = '';
    for await (const chunk of session.request({ ':path': '/', ...headers })) text += chunk;
    return text;
  };
  assert.equal(await get({ ':authority': 'evil', host: 'bank' }), 'site of evil');
  assert.equal(await get({ ':authority': 'bank' }), 'site of bank');
  assert.equal(await get({ ':authority': 'bank', host: 'bank' }), 'site of bank');
  assert.equal(await get({ ':authority': 'evil' }), 'site of evil');
  const { bypassed, hits } = handler.stats();
  assert.deepEqual([bypassed.authority, hits], [1, 1]);
});

for (const name of ['X-Forwarded-Host', 'X-Forwarded-Proto']) {
  test(`${name}: a framework that trusts its proxy takes it for its own`, async (t) => {
    const app = express().set('trust proxy', true);
    app.use(cached((req, res) => res.send(`${req.protocol} ${req.hostname}`), { ttl: 60 }));
    const { get } = await listen(t, createServer(app));
    const [given, seen] =
      name === 'X-Forwarded-Host' ? ['evil', 'http evil'] : ['https', 'https 127.0.0.1'];
    for (const _ of [1, 2]) {
      assert.equal((await get('/', { headers: { [name]: given } })).text, seen);
      assert.equal((await get('/')).text, 'http 127.0.0.1');
    }
  });
}

test('an application that is mounted is distinguished by the whole path', async (t) => {
  const page = cached((req, res) => res.send(req.baseUrl + req.url), { ttl: 60 });
  const app = express();
  app.use('/a', express.Router().get('/page', page));
  app.use('/b', express.Router().get('/page', page));
  const { get } = await listen(t, createServer(app));
  for (const path of ['/a/page', '/b/page', '/a/page', '/b/page']) {
    assert.equal((await get(path)).text, path);
  }
  assert.equal(page.stats().hits, 2);
});

test('middleware: what answers further on is recorded', async (t) => {
  let runs = 0;
  const cache = cached((_req, _res, next) => next(), { ttl: 60 });
  const app = express().use(cache);
  app.get('/found', (_req, res) => res.send(`run ${++runs}`));
  const { get } = await listen(t, createServer(app));
  assert.equal((await get('/found')).text, 'run 1');
  assert.equal((await get('/found')).text, 'run 1');
  assert.equal((await get('/lost')).status, 404);
  assert.equal((await get('/lost')).status, 404);
  assert.equal(cache.stats().notKept.status, 2);
});

test("next('route') goes on as without it, and is recorded", async (t) => {
  let runs = 0;
  const skip = cached((_req, _res, next) => next('route'), { ttl: 60 });
  const app = express();
  app.get('/', skip, () => assert.fail('it was skipped'));
  app.get('/', (_req, res) => res.send(`run ${++runs}`));
  const { get } = await listen(t, createServer(app));
  assert.equal((await get('/')).text, 'run 1');
  assert.equal((await get('/')).text, 'run 1');
});

test('files of express.static are kept, and parts of them are not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file.txt'), '0123456789');
  const files = cached(express.static(folder), { ttl: 60 });
  const { get } = await listen(t, createServer(express().use(files)));
  const part = { headers: { range: 'bytes=2-4' } };
  assert.equal((await get('/file.txt', part)).text, '234');
  const { text, headers } = await get('/file.txt');
  assert.equal(text, '0123456789');
  rmSync(join(folder, 'file.txt'));
  assert.equal((await get('/file.txt')).text, '0123456789');
  const condition = { headers: { 'if-modified-since': headers['last-modified'] } };
  assert.equal((await get('/file.txt', condition)).status, 304);
  assert.equal((await get('/file.txt', part)).status, 404);
});

test('Fastify: hooks of requests and responses run for each, those of the payload for the one it runs for', async (t) => {
  const ran = { onRequest: 0, onSend: 0, onResponse: 0 };
  const app = fastify(patience);
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-request', ++ran.onRequest);
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.header('x-send', ++ran.onSend);
    return `<${payload}>`;
  });
  app.addHook('onResponse', async () => {
    if (++ran.onResponse === 3) app.server.emit('three');
  });
  app.get(
    '/',
    cached(async () => ({ a: 1 }), { ttl: 60 }),
  );
  await app.ready();
  const { get } = await listen(t, app.server);
  const three = once(app.server, 'three');
  for (const request of [1, 2, 3]) {
    const { headers, text } = await get('/');
    assert.equal(text, '<{"a":1}>');
    assert.deepEqual([headers['x-request'], headers['x-send']], [String(request), '1']);
  }
  await three;
  assert.deepEqual(ran, { onRequest: 3, onSend: 1, onResponse: 3 });
});

test('Fastify: handlers that return, send later, return the reply, a buffer or a stream', async (t) => {
  const handlers = {
    '/value': async () => ({ a: 1 }),
    '/at-once': () => 'text',
    '/later': (_request, reply) => {
      setImmediate(() => reply.send('later'));
    },
    '/reply': async (_request, reply) => {
      setImmediate(() => reply.send('reply'));
      return reply;
    },
    '/buffer': async () => Buffer.from([0, 255, 1]),
    '/stream': async () => new Response('a stream').body,
    '/response': async () => new Response('a response', { status: 202, headers: { 'x-a': '1' } }),
    '/nothing': async (_request, reply) => reply.code(204).send(),
  };
  const app = fastify(patience);
  let server;
  const runs = {};
  for (const [path, handler] of Object.entries(handlers)) {
    const wrapped = cached(
      function own(...args) {
        server = this;
        runs[path] = (runs[path] ?? 0) + 1;
        return handler(...args);
      },
      { ttl: 60 },
    );
    app.get(path, wrapped);
  }
  await app.ready();
  const { get } = await listen(t, app.server);
  for (const path of Object.keys(handlers)) {
    const first = await get(path);
    assert.ok(first.status < 300, path);
    assert.equal(first.body.length > 0, path !== '/nothing', path);
    assert.deepEqual(content(await get(path)), content(first));
    assert.equal(runs[path], 1, path);
  }
  assert.equal(server, app, '`this` is that of the server');
});

test('HTTP/2: shared and kept as well', async (t) => {
  stillClock(t);
  let runs = 0;
  const handler = cached(
    (req, res) => {
      res.setHeader('x-run', ++runs);
      if (req.url === '/pieces') res.write('in ');
      res.end('whole');
    },
    { ttl: 60 },
  );
  let session;
  t.after(() => session.destroy());
  const { port } = await listen(t, createHttp2Server(handler));
  session = connectHttp2(`http://127.0.0.1:${port}`);
  const get = async (path, headers) => {
    const stream = session.request({ ':path': path, ...headers });
    const [head] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    return { head, text };
  };
  for (const [path, text] of Object.entries({ '/': 'whole', '/pieces': 'in whole' })) {
    const first = await get(path);
    const second = await get(path);
    assert.deepEqual([first.text, second.text], [text, text]);
    assert.equal(second.head['x-run'], first.head['x-run']);
    assert.equal(second.head.age, '0');
  }
  assert.equal((await get('/', { ':authority': 'other.example' })).head['x-run'], '3');
});

test('requests that are pipelined are answered in their order', async (t) => {
  const { port } = await listen(
    t,
    cached((req, res) => setImmediate(() => res.end(`<${req.url}>`)), { ttl: 60 }),
  );
  await ask(port, '/b');
  const socket = connect(port, '127.0.0.1');
  const head = (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  socket.write(
    head('/a') + head('/b') + head('/a') + head('/c').replace('\r\n', '\r\nConnection: close\r\n'),
  );
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.deepEqual(text.match(/<[^>]+>/g), ['</a>', '</b>', '</a>', '</c>']);
});
