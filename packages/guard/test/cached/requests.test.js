/** Requests that share answers, and those that do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cached } from '@millrace/guard/cached';
import { stillClock } from '../../../base/test/clocks.js';
import { begin, gate, listen, requests, serve, shapes } from './shapes.js';

const numbered = async (_req, run) => ({ headers: { 'x-run': run }, body: `run ${run}` });

const bypassed = {
  'Authorization, for the default key does not say who asks': [
    'authorization',
    { headers: { authorization: 'Basic YTpi' } },
  ],
  'Cookie, for the same reason': ['cookie', { headers: { cookie: 'id=1' } }],
  'a range': ['range', { headers: { range: 'bytes=0-1' } }],
  'If-Match': ['conditional', { headers: { 'if-match': '"1"' } }],
  'If-Unmodified-Since': [
    'conditional',
    { headers: { 'if-unmodified-since': 'Sun, 01 Nov 2026 00:00:00 GMT' } },
  ],
  'a POST': ['method', { method: 'POST', body: 'data' }],
  'a DELETE': ['method', { method: 'DELETE' }],
  'a body of known length': ['body', { headers: { 'content-length': 4 }, body: 'data' }],
  'a body of unknown length': [
    'body',
    { headers: { 'transfer-encoding': 'chunked' }, body: 'data' },
  ],
};

for (const shape of shapes) {
  test(`${shape}: requests that are nobody else's business run the handler`, async (t) => {
    const { get, handler, runs } = await serve(t, shape, numbered, { ttl: 60 });
    await get('/');
    const count = {};
    for (const [reason, options] of Object.values(bypassed)) {
      count[reason] = (count[reason] ?? 0) + 1;
      const expected = `run ${runs.length + 1}`;
      assert.equal((await get('/', options)).text, expected);
      assert.equal(handler.stats().bypassed[reason], count[reason]);
    }
    assert.equal((await get('/')).text, 'run 1');
    assert.equal(handler.stats().entries, 1);
  });
}

test('a function key says what is the same, also for those who name themselves', async (t) => {
  const { pass, open, reached } = gate();
  const answer = async (req) => {
    await pass();
    return { body: `for ${req.headers.cookie}` };
  };
  const key = (req) => `${req.headers.cookie} ${req.url.split('?')[0]}`;
  const { get, server, runs } = await serve(t, 'Express', answer, { ttl: 60, key });
  const all = requests(server, 4);
  const answers = ['ada', 'bob', 'ada', 'bob'].map((cookie, at) =>
    get(`/?${at}`, { headers: { cookie } }),
  );
  await Promise.all([reached(2), all]);
  open();
  const texts = (await Promise.all(answers)).map(({ text }) => text);
  assert.deepEqual(texts, ['for ada', 'for bob', 'for ada', 'for bob']);
  assert.equal(runs.length, 2);
});

test('a key of undefined or null is none', async (t) => {
  const key = (req) => (req.url === '/a' ? undefined : null);
  const { get, handler } = await serve(t, 'node:http', numbered, { ttl: 60, key });
  assert.equal((await get('/a')).text, 'run 1');
  assert.equal((await get('/b')).text, 'run 2');
  assert.equal((await get('/b')).text, 'run 3');
  assert.equal(handler.stats().bypassed.key, 3);
});

for (const shape of ['Connect', 'Express', 'Fastify']) {
  test(`${shape}: a key that is no text, or a function that throws, fails its request alone`, async (t) => {
    const key = (req) => {
      if (req.url === '/throws') throw new Error('no key');
      return req.url === '/number' ? 1 : req.url;
    };
    const { get, handler } = await serve(t, shape, numbered, { ttl: 60, key });
    assert.deepEqual((await get('/throws')).text, 'told: no key');
    const { status, text } = await get('/number');
    assert.equal(status, 500);
    assert.match(text, /option 'key' returned 1/);
    assert.equal((await get('/fine')).text, 'run 1');
    assert.equal(handler.stats().failed, 2);
  });
}

test('with a key, other methods can share as well', async (t) => {
  const { get, runs } = await serve(t, 'node:http', numbered, {
    ttl: 60,
    methods: ['GET', 'POST'],
    key: (req) => req.url,
  });
  for (const method of ['GET', 'POST', 'GET', 'POST']) await get('/', { method });
  assert.deepEqual(runs, ['GET /', 'POST /']);
  await get('/', { method: 'HEAD' });
  assert.equal(runs.length, 3);
});

test('keys of any text are apart from each other and from those with headers', async (t) => {
  const ids = [
    'a',
    'a\nb',
    'a b',
    '["a",[["accept","x"]]]',
    '',
    'x'.repeat(5000),
    'x'.repeat(5001),
  ];
  const answer = async (req, run) => ({
    headers: req.headers.accept === 'x' ? { vary: 'accept' } : {},
    body: `run ${run}`,
  });
  const key = (req) => ids[Number(req.url.slice(1))];
  const { get, runs } = await serve(t, 'node:http', answer, { ttl: 60, key });
  const texts = [];
  for (const accept of ['x', 'y']) {
    for (const at of ids.keys()) texts.push((await get(`/${at}`, { headers: { accept } })).text);
  }
  assert.equal(new Set(texts).size, runs.length);
  assert.equal(runs.length, 2 * ids.length);
});

for (const shape of shapes) {
  test(`${shape}: an answer that varies is for those with the same headers`, async (t) => {
    const answer = async (req, run) => ({
      headers: { vary: 'Accept-Language,accept', 'x-run': run },
      body: `${req.headers['accept-language']}`,
    });
    const { get, runs } = await serve(t, shape, answer, { ttl: 60 });
    const languages = ['de', 'en', 'de', undefined, 'en', undefined];
    for (const language of languages) {
      const headers = language === undefined ? {} : { 'accept-language': language };
      assert.equal((await get('/', { headers })).text, `${language}`);
    }
    assert.equal(runs.length, 3);
    await get('/', { headers: { 'accept-language': 'de', accept: 'a/b' } });
    assert.equal(runs.length, 4);
  });

  test(`${shape}: those who wait for what turns out to be another variant get their own`, async (t) => {
    const { pass, open, reached } = gate();
    const answer = async (req, run) => {
      if (run === 1) await pass();
      return { headers: { vary: 'accept-language' }, body: req.headers['accept-language'] };
    };
    const { get, server, runs, handler } = await serve(t, shape, answer, { ttl: 60 });
    const languages = ['de', 'en', 'de', 'en', 'fr', 'en'];
    const first = get('/', { headers: { 'accept-language': 'de' } });
    await reached(1);
    const all = requests(server, languages.length);
    const others = languages.map((language) =>
      get('/', { headers: { 'accept-language': language } }),
    );
    await all;
    open();
    assert.equal((await first).text, 'de');
    assert.deepEqual(
      (await Promise.all(others)).map(({ text }) => text),
      languages,
    );
    assert.equal(runs.length, 3);
    assert.equal(handler.stats().entries, 3);
  });
}

test('headers of the option vary are part of the key from the start', async (t) => {
  const answer = async (req) => ({ body: req.headers['x-tenant'] });
  const { get, runs } = await serve(t, 'node:http', answer, { ttl: 60, vary: ['X-Tenant'] });
  for (const tenant of ['a', 'b', 'a', 'b']) {
    assert.equal((await get('/', { headers: { 'x-tenant': tenant } })).text, tenant);
  }
  assert.equal(runs.length, 2);
});

const tagged = async () => ({
  headers: {
    etag: 'W/"7"',
    'last-modified': 'Sun, 01 Nov 2026 00:00:00 GMT',
    'content-type': 'text/plain',
    'x-own': '1',
  },
  body: 'the body',
});
const same = [
  { 'if-none-match': 'W/"7"' },
  { 'if-none-match': '"6", "7"' },
  { 'if-none-match': '*' },
  { 'if-modified-since': 'Sun, 01 Nov 2026 00:00:00 GMT' },
  { 'if-modified-since': 'Mon, 02 Nov 2026 00:00:00 GMT' },
];
const other = [
  { 'if-none-match': '"8"' },
  { 'if-none-match': '"8"', 'if-modified-since': 'Mon, 02 Nov 2026 00:00:00 GMT' },
  { 'if-none-match': '7' },
  { 'if-modified-since': 'Sat, 31 Oct 2026 00:00:00 GMT' },
  { 'if-modified-since': 'soon' },
];

for (const shape of shapes) {
  test(`${shape}: a client that has the answer gets a 304, from a copy and from the handler`, async (t) => {
    stillClock(t);
    const { get, runs, handler } = await serve(t, shape, tagged, { ttl: 60 });
    let path = 0;
    for (const headers of [...same, ...other]) {
      const expected = same.includes(headers) ? [304, ''] : [200, 'the body'];
      path++;
      for (const age of [undefined, '0']) {
        const answer = await get(`/${path}`, { headers });
        assert.deepEqual([answer.status, answer.text], expected, JSON.stringify(headers));
        assert.equal(answer.headers.etag, 'W/"7"');
        assert.equal(answer.headers['x-own'], '1');
        assert.equal(answer.headers.age, age);
        const type = expected[0] === 304 ? undefined : 'text/plain';
        assert.equal(answer.headers['content-type']?.split(';')[0], type);
      }
      // Whoever has not got it is given the whole, whatever the first one had.
      assert.equal((await get(`/${path}`)).text, 'the body');
    }
    assert.equal(runs.length, same.length + other.length);
    assert.equal(handler.stats().notModified, same.length);
  });

  test(`${shape}: the conditions of the one it runs for are not those of others`, async (t) => {
    const { pass, open, reached } = gate();
    const seen = [];
    const answer = async (req) => {
      seen.push(req.headers['if-none-match']);
      await pass();
      return tagged();
    };
    const { get, server, runs } = await serve(t, shape, answer, { ttl: 60 });
    const first = get('/', { headers: { 'if-none-match': 'W/"7"' } });
    await reached(1);
    const all = requests(server, 2);
    const others = [get('/'), get('/', { headers: { 'if-none-match': '"7"' } })];
    await all;
    open();
    assert.equal((await first).status, 304);
    const [plain, conditional] = await Promise.all(others);
    assert.deepEqual([plain.status, plain.text], [200, 'the body']);
    assert.deepEqual([conditional.status, conditional.text], [304, '']);
    assert.equal(runs.length, 1);
    assert.deepEqual(seen, [undefined]);
  });
}

test('the headers of a request are restored after the answer', async (t) => {
  const handler = cached((_req, res) => res.setHeader('etag', '"1"').end('body'), { ttl: 60 });
  const seen = [];
  const { get } = await listen(t, (req, res) => {
    res.once('finish', () => seen.push(req.headers));
    handler(req, res);
  });
  const headers = {
    'if-none-match': '"2"',
    'if-modified-since': 'Sun, 01 Nov 2026 00:00:00 GMT',
  };
  await get('/', { headers });
  const { 'if-none-match': noneMatch, 'if-modified-since': modifiedSince } = seen[0];
  assert.deepEqual({ 'if-none-match': noneMatch, 'if-modified-since': modifiedSince }, headers);
});

test('the conditions of other methods are for the handler', async (t) => {
  stillClock(t);
  const handler = cached(
    (req, res) => res.setHeader('etag', '"1"').end(`seen ${req.headers['if-none-match']}`),
    { ttl: 60, methods: ['POST'], key: (req) => req.url },
  );
  const { get } = await listen(t, handler);
  const headers = { 'if-none-match': '*' };
  for (const age of [undefined, '0']) {
    const answer = await get('/', { method: 'POST', headers });
    assert.deepEqual([answer.status, answer.text, answer.headers.age], [200, 'seen *', age]);
  }
});

test('a 304 says nothing of how a body would come', async (t) => {
  const handler = cached(
    (_req, res) => res.setHeader('etag', '"1"').setHeader('Transfer-Encoding', 'chunked').end('x'),
    { ttl: 60 },
  );
  const { port } = await listen(t, handler);
  const res = await begin(port, '/', { headers: { 'if-none-match': '"1"' } });
  res.resume();
  assert.deepEqual([res.statusCode, res.headers['transfer-encoding']], [304, undefined]);
});

test('a request that others have begun to answer goes to the handler', async (t) => {
  const handler = cached((_req, res) => res.end('whole'), { ttl: 60 });
  const { get } = await listen(t, (req, res) => {
    res.writeHead(200, { 'x-before': '1' });
    handler(req, res);
  });
  for (const _ of [1, 2]) assert.equal((await get('/')).text, 'whole');
  const { bypassed, entries } = handler.stats();
  assert.deepEqual([bypassed.sent, entries], [2, 0]);
});
