/** Identical requests at the same time run the handler once, and are all given the same. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { cached } from '@millrace/guard/cached';
import { stillClock } from '../../../base/test/clocks.js';
import { ask, begin, content, gate, listen, requests, serve, shapes, whole } from './shapes.js';

const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7919) % 256));
const count = 20;

for (const shape of shapes) {
  test(`${shape}: ${count} identical requests run the handler once and get the same`, async (t) => {
    const { pass, open, reached } = gate();
    const answer = async () => {
      await pass();
      return {
        status: 201,
        headers: {
          'content-type': 'application/x-own',
          'x-list': ['a', 'b'],
          'X-Count': 7,
          etag: '"1"',
        },
        body: bytes,
      };
    };
    const { get, server, handler, runs } = await serve(t, shape, answer, { ttl: 5 });
    const all = requests(server, count);
    const answers = Array.from({ length: count }, () => get('/same?a=1'));
    await Promise.all([reached(1), all]);
    open();
    const [first, ...others] = await Promise.all(answers);
    assert.equal(first.status, 201);
    assert.ok(first.body.equals(bytes));
    assert.equal(first.headers['x-list'], 'a, b');
    assert.equal(first.headers.age, undefined);
    for (const other of others) {
      assert.equal(other.headers.age, undefined);
      assert.deepEqual(content(other), content(first));
    }
    assert.deepEqual(runs, ['GET /same?a=1']);
    const { misses, deduplicated, hits } = handler.stats();
    assert.deepEqual(
      { misses, deduplicated, hits },
      { misses: 1, deduplicated: count - 1, hits: 0 },
    );
  });

  test(`${shape}: what differs in method, path, query or host is not the same`, async (t) => {
    stillClock(t);
    const answer = async (req) => ({ body: `${req.headers.host} ${req.url}` });
    const { get, runs } = await serve(t, shape, answer, { ttl: 60 });
    const asked = [
      ['/a', { headers: { host: 'one.example' } }],
      ['/a', { headers: { host: 'two.example' } }],
      ['/b', { headers: { host: 'one.example' } }],
      ['/a?', { headers: { host: 'one.example' } }],
      ['/A', { headers: { host: 'one.example' } }],
    ];
    for (const round of [1, 2]) {
      for (const [path, options] of asked) {
        const { text, headers } = await get(path, options);
        assert.equal(text, `${options.headers.host} ${path}`);
        assert.equal(headers.age, round === 1 ? undefined : '0');
      }
    }
    assert.equal(runs.length, asked.length);
  });

  test(`${shape}: an answer other than 2xx is shared, and not kept`, async (t) => {
    const { pass, open, reached } = gate();
    const answer = async (_req, run) => {
      if (run === 1) await pass();
      return { status: 404, body: 'nothing here' };
    };
    const { get, server, handler, runs } = await serve(t, shape, answer, { ttl: 60 });
    const all = requests(server, 3);
    const answers = [get('/x'), get('/x'), get('/x')];
    await Promise.all([reached(1), all]);
    open();
    for (const { status, text } of await Promise.all(answers)) {
      assert.deepEqual([status, text], [404, 'nothing here']);
    }
    assert.equal(runs.length, 1);
    assert.equal((await get('/x')).status, 404);
    assert.equal(runs.length, 2);
    const stats = handler.stats();
    assert.equal(stats.notKept.status, 2);
    assert.equal(stats.entries, 0);
  });

  test(`${shape}: after it, requests are served from the copy`, async (t) => {
    stillClock(t);
    const answer = async (_req, run) => ({ headers: { 'x-run': run }, body: `run ${run}` });
    const { get, handler, runs } = await serve(t, shape, answer, { ttl: 60 });
    assert.equal((await get('/')).headers.age, undefined);
    for (const _ of [1, 2, 3]) {
      const { text, headers } = await get('/');
      assert.equal(text, 'run 1');
      assert.equal(headers['x-run'], '1');
      assert.equal(headers.age, '0');
      assert.equal(headers.warning, undefined);
    }
    assert.equal(runs.length, 1);
    assert.equal(handler.stats().hits, 3);
  });

  test(`${shape}: with a ttl of 0 nothing is kept`, async (t) => {
    const answer = async (_req, run) => ({ body: `run ${run}` });
    const { get, handler } = await serve(t, shape, answer, { ttl: 0 });
    assert.equal((await get('/')).text, 'run 1');
    assert.equal((await get('/')).text, 'run 2');
    assert.equal(handler.stats().entries, 0);
  });
}

test('the request that the handler runs for has its bytes at once; the others have the whole', async (t) => {
  const { pass, open, reached } = gate();
  const handler = cached(
    async (_req, res) => {
      res.setHeader('x-own', '1');
      res.write('first ');
      await pass();
      res.write(new Uint8Array(Buffer.from('second ')));
      res.end('c3RpbGw=', 'base64');
    },
    { ttl: 60 },
  );
  const { port, server } = await listen(t, createServer(handler));
  const leader = await begin(port, '/');
  await reached(1);
  const [chunk] = await new Promise((resolve) => leader.once('data', (...args) => resolve(args)));
  assert.equal(chunk.toString(), 'first ');
  const all = requests(server, 1);
  const other = ask(port, '/');
  await all;
  open();
  leader.pause();
  assert.equal((await other).text, 'first second still');
  assert.equal((await other).headers['x-own'], '1');
  assert.equal((await whole(leader)).text, 'second still');
});

test('a buffer that the handler uses again is recorded as it was', async (t) => {
  const handler = cached(
    (_req, res) => {
      const buffer = Buffer.from('one');
      res.write(buffer, () => {
        buffer.write('two');
        res.end(buffer);
      });
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  assert.equal((await get('/')).text, 'onetwo');
  assert.equal((await get('/')).text, 'onetwo');
});

test('headers given to writeHead as an array, with a phrase, are recorded', async (t) => {
  stillClock(t);
  const handler = cached(
    (_req, res) => {
      res.setHeader('x-gone', '1');
      res.removeHeader('x-gone');
      res.writeHead(200, 'Fine', ['X-A', '1', 'x-b', '2', 'x-b', '3']);
      res.end();
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  const first = await get('/');
  assert.equal(first.message, 'Fine');
  assert.equal(first.headers['x-b'], '2, 3');
  const second = await get('/');
  assert.equal(second.headers.age, '0');
  assert.deepEqual(content(second), content(first));
});

test('headers that tell about one connection are not passed on', async (t) => {
  const handler = cached(
    (_req, res) => {
      res.setHeader('Keep-Alive', 'timeout=77');
      res.setHeader('Proxy-Connection', 'x');
      res.setHeader('Connection', 'close');
      res.end();
    },
    { ttl: 60 },
  );
  const { port } = await listen(t, createServer(handler));
  const told = [];
  for (const _ of [1, 2]) {
    const res = await begin(port, '/');
    res.resume();
    told.push([res.headers['keep-alive'], res.headers['proxy-connection']]);
  }
  assert.deepEqual(told, [
    ['timeout=77', 'x'],
    [undefined, undefined],
  ]);
});

test('HEAD is answered from the copy of a GET, without its body', async (t) => {
  for (const shape of shapes) {
    const answer = async () => ({ headers: { etag: '"1"' }, body: 'twelve bytes' });
    const { get, runs, handler } = await serve(t, shape, answer, { ttl: 60 });
    await get('/');
    const head = await get('/', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', '"1"'], shape);
    assert.equal(head.headers['content-length'], '12', shape);
    assert.equal(runs.length, 1, shape);
    assert.equal(handler.stats().hits, 1, shape);
  }
});

test('the answer to a HEAD is for others of its kind only', async (t) => {
  stillClock(t);
  const answer = async (req) => ({ headers: { 'x-for': req.method }, body: 'body' });
  const { get, runs } = await serve(t, 'node:http', answer, { ttl: 60 });
  assert.equal((await get('/', { method: 'HEAD' })).headers['x-for'], 'HEAD');
  assert.equal((await get('/', { method: 'HEAD' })).headers.age, '0');
  assert.deepEqual(runs, ['HEAD /']);
  assert.equal((await get('/')).text, 'body');
  assert.deepEqual(runs, ['HEAD /', 'GET /']);
});

test('headers given to writeHead in pairs are recorded', async (t) => {
  stillClock(t);
  const handler = cached(
    (_req, res) => {
      res.setHeader('x-a', '0');
      const pairs = [
        ['X-A', '1'],
        ['x-b', ['2', '3']],
        ['x-b', '4'],
      ];
      res.writeHead(200, pairs).end();
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  for (const age of [undefined, '0']) {
    const { headers } = await get('/');
    assert.deepEqual([headers['x-a'], headers['x-b'], headers.age], ['1', '2, 3, 4', age]);
  }
});

test('a status that is set as a text is that status', async (t) => {
  stillClock(t);
  const handler = cached(
    (_req, res) => {
      res.statusCode = '200';
      res.end();
    },
    { ttl: 60 },
  );
  const { get } = await listen(t, createServer(handler));
  await get('/');
  assert.equal((await get('/')).headers.age, '0');
});

test('an answer without a body is given where none may have one', async (t) => {
  stillClock(t);
  const handler = cached(
    (req, res) => {
      res.statusCode = req.url === '/204' ? 204 : 200;
      res.end();
    },
    { ttl: 60 },
  );
  const server = createServer({ rejectNonStandardBodyWrites: true }, handler);
  const { get } = await listen(t, server);
  for (const path of ['/204', '/200']) {
    await get(path);
    const { headers, text } = await get(path);
    assert.deepEqual([headers.age, text], ['0', '']);
  }
});
