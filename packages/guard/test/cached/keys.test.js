/** Keys: no client can make its request look like another's, and none can make them grow. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { test } from 'node:test';
import { cached } from '@millrace/guard/cached';
import express from 'express';
import { listen } from './shapes.js';

test('a path that is put into the Host does not lead to the copy of another', async (t) => {
  const app = express();
  app.use('/secret', (req, res, next) => {
    if (req.headers['x-api-key'] === 'k') next();
    else res.status(401).end('who are you');
  });
  app.use(cached((req, res) => res.end(`content of ${req.url}`), { ttl: 60 }));
  const { get } = await listen(t, createServer(app));
  const host = 'example.com';
  const allowed = await get('/secret/page', { headers: { host, 'x-api-key': 'k' } });
  assert.equal(allowed.text, 'content of /secret/page');
  const { text } = await get('/page', { headers: { host: `${host}/secret` } });
  assert.equal(text, 'content of /page');
});

for (const [what, target] of Object.entries({
  'of this form': (text) =>
    `~${createHash('sha256').update(text).digest('base64url')}${text.slice(0, 64)}`,
  'after the beginning': (text) =>
    `${text.slice(0, 64)}~${createHash('sha256').update(text).digest('base64url')}`,
})) {
  test(`the digest of a long target, ${what}, asked for literally, is something else`, async (t) => {
    let runs = 0;
    const key = (req) => decodeURIComponent(req.url.slice(1));
    const handler = cached((_req, res) => res.end(`run ${++runs}`), { ttl: 60, key });
    const { get } = await listen(t, handler);
    const long = 'a'.repeat(300);
    assert.equal((await get(`/${target(long)}`)).text, 'run 1');
    assert.equal((await get(`/${long}`)).text, 'run 2');
    assert.equal((await get(`/${long}`)).text, 'run 2');
  });
}

test('HTTP/2: a GET with a body of unknown length runs the handler', async (t) => {
  const handler = cached(
    async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      res.end(`body ${body}`);
    },
    { ttl: 60 },
  );
  let session;
  t.after(() => session.destroy());
  const { port } = await listen(t, createHttp2Server(handler));
  session = connectHttp2(`http://127.0.0.1:${port}`);
  const get = async (body) => {
    const stream = session.request({ ':path': '/' }, { endStream: body === '' });
    if (body !== '') stream.end(body);
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text;
  };
  for (const body of ['', 'one', 'two', '']) assert.equal(await get(body), `body ${body}`);
  const { bypassed, hits } = handler.stats();
  assert.deepEqual([bypassed.body, hits], [2, 1]);
});

test('an answer varies by the headers as they came, not as the handler left them', async (t) => {
  const handler = cached(
    (req, res) => {
      const language = req.headers['accept-language'];
      req.headers['accept-language'] = 'en';
      res.setHeader('Vary', 'Accept-Language');
      res.end(language);
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, handler);
  for (const language of ['de', 'en', 'de', 'en']) {
    assert.equal((await get('/', { headers: { 'accept-language': language } })).text, language);
  }
  assert.equal(handler.stats().hits, 2);
});

test('answers that name ever more headers in Vary are not kept any more', async (t) => {
  let runs = 0;
  const handler = cached(
    (_req, res) => {
      res.setHeader('Vary', `X-${runs++}`);
      res.end();
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, handler);
  for (let at = 0; at < 40; at++) await get('/', { headers: { [`x-${at}`]: '1' } });
  const { entries, notKept } = handler.stats();
  assert.ok(notKept.vary > 0);
  assert.equal(entries, 32);
});

test('a handler called without a request and a response says so', () => {
  const handler = cached(() => {}, { ttl: 60 });
  // As Koa does.
  assert.throws(() => handler({ req: {}, res: {} }, async () => {}), {
    code: 'MILLRACE_E_INVALID_ARGUMENT',
    message: /second argument/,
  });
});
