/** Copies in Redis: several processes share them, and a Redis that fails fails no request. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { describe, test } from 'node:test';
import { cached } from '@millrace/guard/cached';
import { wallClock } from '../../../base/test/clocks.js';
import { command, startRedis } from './redis-server.js';
import { content, gate, listen, movableClock, requests, serve, shapes } from './shapes.js';

const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256));
const hosted = { headers: { host: 'shop.example' } };

/** Two servers, each with its own client, as two processes would have; they count their runs together. */
async function pair(
  t,
  redis,
  options = {},
  answer = async (_req, run) => ({ body: `run ${run}` }),
) {
  const runs = [];
  const make = async () => {
    const client = redis.connect(options.client);
    const storage = { type: 'redis', options: { client } };
    const counted = async (req) => {
      runs.push(req.url);
      return answer(req, runs.length);
    };
    const made = await serve(t, options.shape ?? 'node:http', counted, {
      ttl: 60,
      stale: 60,
      storeTimeout: 60_000,
      storage,
      ...options.cached,
    });
    const get = (path, extra) =>
      made.get(path, { ...extra, headers: { ...hosted.headers, ...extra?.headers } });
    return { ...made, client, get };
  };
  return { one: await make(), two: await make(), runs };
}

/** Keeping is not waited for; the client of a server has sent it when this is answered. */
const settled = ({ client }) => client.ping();

function tests() {
  for (const shape of shapes) {
    test(`${shape}: what one process has answered, another serves: same status, headers, bytes`, async (t) => {
      const redis = await startRedis(t);
      const at = wallClock.now();
      t.mock.method(wallClock, 'now', () => at);
      const answer = async () => ({
        status: 203,
        headers: {
          'x-list': ['a', 'b'],
          'X-Own': 'ü'.normalize(),
          'content-type': 'a/b',
          etag: '"1"',
        },
        body: bytes,
      });
      const { one, two, runs } = await pair(t, redis, { shape }, answer);
      const first = await one.get('/');
      await settled(one);
      const second = await two.get('/');
      assert.ok(second.body.equals(bytes));
      assert.deepEqual(content(second), content(first));
      assert.equal(second.headers.age, '0');
      assert.equal(runs.length, 1);
      assert.equal((await two.get('/', { headers: { 'if-none-match': '"1"' } })).status, 304);
      const head = await two.get('/', { method: 'HEAD' });
      assert.deepEqual([head.status, head.body.length], [203, 0]);
      assert.equal(head.headers['content-length'], String(bytes.length));
      assert.equal(runs.length, 1);
      const { hits, storeErrors, entries } = two.handler.stats();
      assert.deepEqual({ hits, storeErrors, entries }, { hits: 3, storeErrors: 0, entries: null });
    });
  }

  test('identical requests ask it once', async (t) => {
    const redis = await startRedis(t);
    const { pass, open, reached } = gate();
    const answer = async () => {
      await pass();
      return { body: 'x' };
    };
    const { one, runs } = await pair(t, redis, {}, answer);
    let asked = 0;
    const { get } = one.client;
    t.mock.method(one.client, 'get', (...args) => {
      asked++;
      return get.apply(one.client, args);
    });
    const all = requests(one.server, 10);
    const answers = Array.from({ length: 10 }, () => one.get('/'));
    await Promise.all([reached(1), all]);
    open();
    await Promise.all(answers);
    assert.deepEqual([runs.length, asked], [1, 1]);
  });

  test('it clears copies away when ttl and stale are over, under the name that is given', async (t) => {
    const redis = await startRedis(t);
    const { one } = await pair(t, redis, { cached: { ttl: 1.5, stale: 100, name: 'shop' } });
    await one.get('/');
    await settled(one);
    const keys = await one.client.keys('*');
    assert.deepEqual(keys, ['shop~GET http://shop.example\n/']);
    const ms = await one.client.pttl(keys[0]);
    assert.ok(ms > 50_000 && ms <= 102_000, `${ms}`);
  });

  test('under pressure another process serves it stale', async (t) => {
    const redis = await startRedis(t);
    let at = wallClock.now();
    t.mock.method(wallClock, 'now', () => at);
    let pressure = false;
    const { one, two, runs } = await pair(t, redis, {
      cached: { underPressure: () => pressure },
    });
    await one.get('/');
    await settled(one);
    at += 100_000;
    pressure = true;
    const { text, headers } = await two.get('/');
    assert.equal(text, 'run 1');
    assert.equal(headers.age, '100');
    assert.equal(headers.warning, '110 - "Response is Stale"');
    pressure = false;
    assert.equal((await two.get('/')).text, 'run 2');
    assert.equal(runs.length, 2);
  });

  test('a clock on the wall that is set back makes no negative age', async (t) => {
    const redis = await startRedis(t);
    const { one, two } = await pair(t, redis);
    await one.get('/');
    await settled(one);
    const { now } = wallClock;
    t.mock.method(wallClock, 'now', () => now() - 86_400_000);
    const { text, headers } = await two.get('/');
    assert.deepEqual([text, headers.age, headers.warning], ['run 1', '0', undefined]);
  });

  test('answers that vary are distinguished, also by a process that has not seen one', async (t) => {
    const redis = await startRedis(t);
    const answer = async (req) => ({
      headers: { vary: 'accept-language' },
      body: req.headers['accept-language'],
    });
    const { one, two } = await pair(t, redis, {}, answer);
    for (const server of [one, two, one, two]) {
      for (const language of ['de', 'en']) {
        const headers = { 'accept-language': language };
        assert.equal((await server.get('/', { headers })).text, language);
        await settled(server);
      }
    }
    assert.ok(two.handler.stats().hits >= 2);
  });

  test('a guard has requests answered from it', async (t) => {
    const redis = await startRedis(t);
    const source = { underPressure: false, caches: new Set() };
    const { one } = await pair(t, redis, { cached: { guard: source } });
    await one.get('/');
    await settled(one);
    const [cache] = source.caches;
    const { get } = await listen(t, async (req, res) => {
      if (!(await cache.answer(req, res))) res.writeHead(503).end();
    });
    assert.equal((await get('/', hosted)).text, 'run 1');
    assert.equal((await get('/other', hosted)).status, 503);
    assert.equal(one.handler.stats().shed, 1);
  });

  test('a Redis that ends fails no request; it is not asked each time, and used when it is back', async (t) => {
    const clock = movableClock(t);
    const redis = await startRedis(t);
    // A command that waits for the connection fails with the next attempt to make one.
    const { one } = await pair(t, redis, { client: { maxRetriesPerRequest: 1 } });
    await one.get('/');
    await settled(one);
    assert.equal((await one.get('/')).text, 'run 1');
    const closed = new Promise((resolve) => one.client.once('close', resolve));
    await redis.stop();
    await closed;
    let asked = 0;
    const { get } = one.client;
    t.mock.method(one.client, 'get', (...args) => {
      asked++;
      return get.apply(one.client, args);
    });
    for (const run of [2, 3, 4]) assert.equal((await one.get('/')).text, `run ${run}`);
    assert.equal(asked, 1);
    assert.equal(one.handler.stats().storeErrors, 1);
    clock.pass(2);
    // Until then it tells of attempts that fail, which `once` of node:events takes for the end.
    const ready = new Promise((resolve) => one.client.once('ready', resolve));
    await redis.restart();
    await ready;
    assert.equal((await one.get('/')).text, 'run 5');
    await settled(one);
    assert.equal((await one.get('/')).text, 'run 5');
  });

  test('a Redis that hangs is waited for no longer than storeTimeout, and requests still share', async (t) => {
    movableClock(t);
    const redis = await startRedis(t);
    const { pass, open, reached } = gate();
    const answer = async (_req, run) => {
      await pass();
      return { body: `run ${run}` };
    };
    const { one, runs } = await pair(t, redis, { cached: { storeTimeout: 50 } }, answer);
    await settled(one);
    redis.kill('SIGSTOP');
    const all = requests(one.server, 5);
    const answers = Array.from({ length: 5 }, () => one.get('/'));
    await Promise.all([reached(1), all]);
    open();
    for (const { text } of await Promise.all(answers)) assert.equal(text, 'run 1');
    assert.equal(runs.length, 1);
    assert.equal(one.handler.stats().storeErrors, 1);
    redis.kill('SIGCONT');
  });

  test('an entry that other code wrote there is no copy', async (t) => {
    const redis = await startRedis(t);
    const { one, runs } = await pair(t, redis);
    const key = 'millrace~GET http://shop.example\n/';
    const good = {
      status: 200,
      message: '',
      headers: [['a', 'b']],
      removed: [],
      body: '',
      at: Date.now(),
      mayBeStale: true,
    };
    const bad = [
      '5',
      '"text"',
      '[]',
      '{}',
      JSON.stringify({ ...good, status: '200' }),
      JSON.stringify({ ...good, status: 100 }),
      JSON.stringify({ ...good, message: 'Fine\r\n' }),
      JSON.stringify({ ...good, headers: [['a', 1]] }),
      JSON.stringify({ ...good, headers: [['a b', 'c']] }),
      JSON.stringify({ ...good, headers: [['a', 'b\r\nc: d']] }),
      JSON.stringify({ ...good, headers: { a: 'b' } }),
      JSON.stringify({ ...good, body: 1 }),
      JSON.stringify({ ...good, at: null }),
    ];
    for (const [at, text] of bad.entries()) {
      await one.client.set(key, text);
      assert.equal((await one.get('/')).text, `run ${at + 1}`, text);
      assert.equal(one.handler.stats().storeErrors, at + 1, text);
      await settled(one);
    }
    await one.client.set(key, JSON.stringify(good));
    assert.equal((await one.get('/')).headers.a, 'b');
    assert.equal(runs.length, bad.length);
  });

  test('text that is not JSON is no copy', async (t) => {
    const redis = await startRedis(t);
    const { one } = await pair(t, redis);
    await one.client.set('millrace~GET http://shop.example\n/', '{');
    assert.equal((await one.get('/')).text, 'run 1');
    assert.equal(one.handler.stats().storeErrors, 1);
  });

  test('nobody works for a client that left while the store was asked', async (t) => {
    const { pass, open, reached } = gate();
    const storage = Object.fromEntries(
      ['get', 'set', 'invalidate', 'remove', 'clear', 'getTTL', 'exists'].map((each) => [
        each,
        pass,
      ]),
    );
    const ran = [];
    const handler = cached(
      (req, res) => {
        ran.push(req.headers.from);
        res.end('answered');
      },
      { ttl: 60, storeTimeout: 60_000, storage: { type: 'custom', options: { storage } } },
    );
    const { port, server, get } = await listen(t, createServer(handler));
    const came = once(server, 'request');
    const leaver = request({ port, host: '127.0.0.1', headers: { from: 'leaver' }, agent: false });
    leaver.on('error', () => {});
    leaver.end();
    const [, res] = await came;
    await reached(1);
    const all = requests(server, 1);
    const other = get('/', { headers: { from: 'other' } });
    await all;
    const closed = once(res, 'close');
    leaver.destroy();
    await closed;
    open();
    await reached(1);
    open();
    assert.equal((await other).text, 'answered');
    assert.deepEqual(ran, ['other']);
    const { misses, gone } = handler.stats();
    assert.deepEqual({ misses, gone }, { misses: 1, gone: 1 });
  });

  test('a storage of the user’s own that throws, rejects or never answers', async (t) => {
    const clock = movableClock(t);
    const failing = {
      throws: () => {
        throw new Error('thrown');
      },
      rejects: async () => {
        throw new Error('rejected');
      },
      never: () => new Promise(() => {}),
    };
    for (const [name, fail] of Object.entries(failing)) {
      const methods = ['get', 'set', 'invalidate', 'remove', 'clear', 'getTTL', 'exists'];
      const storage = Object.fromEntries(methods.map((each) => [each, fail]));
      const handler = cached((_req, res) => res.end('answered'), {
        ttl: 60,
        storeTimeout: 20,
        storage: { type: 'custom', options: { storage } },
      });
      const { get } = await listen(t, createServer(handler));
      assert.equal((await get('/')).text, 'answered');
      assert.equal(handler.stats().storeErrors, 1, name);
      clock.pass(2);
      assert.equal((await get('/')).text, 'answered');
      assert.equal(handler.stats().storeErrors, 2, name);
      clock.pass(2);
    }
  });
}

const unable = command === undefined && 'redis-server is not installed';
if (unable && process.env.CI === 'true') {
  test('Redis', () => assert.fail(`${unable}, and CI=true allows no skips`));
} else {
  describe('Redis', { skip: unable }, tests);
}
