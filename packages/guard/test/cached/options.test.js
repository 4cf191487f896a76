/** Options and arguments: bad ones are refused by name; and what it costs that nobody uses. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { cached } from '@millrace/guard/cached';
import { MillraceError } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { serve } from './shapes.js';

const handler = (_req, res) => res.end();
const client = { get: async () => null, set: async () => 'OK' };

const bad = {
  ttl: [undefined, null, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', 31_536_001],
  stale: [null, -1, Number.NaN, Number.POSITIVE_INFINITY, '5'],
  timeout: [0, -1, Number.NaN, 1.5, 2 ** 31, '5'],
  maxBytes: [-1, Number.NaN, 0.5, Number.POSITIVE_INFINITY],
  size: [0, -1, Number.NaN, 1.5, '1'],
  maxStoreBytes: [0, -1, Number.NaN, Number.POSITIVE_INFINITY],
  storeTimeout: [0, -1, Number.NaN, 60_001],
  key: [null, 'url', {}],
  underPressure: [null, true],
  guard: [null, true, {}, { caches: [] }],
  vary: [null, 'accept', [1], ['a b'], ['*'], ['']],
  methods: [null, 'GET', [1], ['get'], ['POST'], ['GET', 'PUT']],
  statuses: [null, 200, ['200'], [99], [100], [206], [304], [600], [200.5]],
  name: [null, '', 5],
  storage: [
    null,
    'redis',
    {},
    { type: 'disk' },
    { type: 'toString' },
    { type: 'memory', options: { size: 5 } },
    { type: 'redis' },
    { type: 'redis', options: {} },
    { type: 'redis', options: { client: {} } },
    { type: 'redis', options: { client, password: 'x' } },
    { type: 'custom', options: { client } },
    { type: 'custom', options: { storage: client } },
    { type: 'memory', other: 1 },
  ],
};

for (const [name, values] of Object.entries(bad)) {
  test(`${name}: bad values are refused by name`, () => {
    for (const value of values) {
      assert.throws(
        () => cached(handler, { ttl: 1, [name]: value }),
        (error) => {
          assert.ok(error instanceof MillraceError, `${String(value)}: ${error.stack}`);
          assert.equal(error.code, 'MILLRACE_E_INVALID_OPTION');
          assert.match(error.message, new RegExp(`'${name}`), String(value));
          return true;
        },
      );
    }
  });
}

test('unknown names, no options, and no handler', () => {
  const code = 'MILLRACE_E_INVALID_OPTION';
  assert.throws(() => cached(handler, { tll: 5 }), { code, message: /'tll'.*is 'ttl' meant/ });
  assert.throws(() => cached(handler, { ttl: 5, colour: 1 }), {
    code,
    message: /'colour'.*known are ttl/,
  });
  assert.throws(() => cached(handler), { code });
  assert.throws(() => cached(handler, null), { code });
  assert.throws(() => cached(handler, 5), { code });
  for (const value of [undefined, null, {}, 'handler']) {
    assert.throws(() => cached(value, { ttl: 5 }), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  }
});

test('a key and a store that is shared need a name', () => {
  const storage = { type: 'redis', options: { client } };
  const key = () => 'x';
  assert.throws(() => cached(handler, { ttl: 5, key, storage }), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message: /'name'/,
  });
  cached(handler, { ttl: 5, key, storage, name: 'pages' });
  cached(handler, { ttl: 5, storage });
});

test('the limits of each range are taken', () => {
  const year = 31_536_000;
  for (const options of [
    { ttl: 0 },
    { ttl: year, stale: year },
    { ttl: 0.5, stale: 0.5 },
    { ttl: 1, timeout: 1 },
    { ttl: 1, timeout: 2 ** 31 - 1 },
    { ttl: 1, maxBytes: 0, size: 1, maxStoreBytes: 1 },
    { ttl: 1, methods: [], statuses: [], vary: [] },
    { ttl: 1, stale: undefined, key: undefined, storage: undefined },
  ]) {
    cached(handler, options);
  }
});

test('Express takes it for a handler, not for one of errors', () => {
  assert.ok(cached(handler, { ttl: 1 }).length < 4);
});

test('async-cache-dedupe is loaded by the first cached(), not by the import', async () => {
  const script = `
    import { createRequire } from 'node:module';
    import { cached } from '@millrace/guard/cached';
    const { cache } = createRequire(import.meta.url);
    const loaded = () => Object.keys(cache).some((path) => path.includes('async-cache-dedupe'));
    const before = loaded();
    cached(() => {}, { ttl: 1 });
    console.log(before, loaded());
  `;
  const args = [...process.execArgv, '--input-type=module', '--eval', script];
  const cwd = import.meta.dirname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  assert.equal(stdout.trim(), 'false true');
});

test('a thousand URLs: copies are bounded by size, the ones not used for longest go', async (t) => {
  stillClock(t);
  const answer = async (req) => ({ body: req.url });
  const { get, handler: made, runs } = await serve(t, 'node:http', answer, { ttl: 60, size: 100 });
  // In whatever order those of two batches come in, fewer than 100 others are between two uses of /often.
  for (let batch = 0; batch < 1000; batch += 40) {
    const paths = Array.from({ length: 40 }, (_, at) => `/${batch + at}?${'x'.repeat(2000)}`);
    const texts = await Promise.all([get('/often'), ...paths.map((path) => get(path))]);
    assert.deepEqual(
      texts.map(({ text }) => text),
      ['/often', ...paths],
    );
  }
  const { entries, bytes } = made.stats();
  assert.equal(entries, 100);
  // Of keys, only a digest is kept.
  assert.ok(bytes < 100 * (2100 + 1000), `${bytes}`);
  assert.equal(runs.filter((run) => run === 'GET /often').length, 1);
});

test('copies are bounded by bytes', async (t) => {
  stillClock(t);
  const answer = async (req) => ({ body: 'x'.repeat(Number(req.url.slice(1))) });
  const limit = 10_000;
  const { get, handler: made } = await serve(t, 'node:http', answer, {
    ttl: 60,
    maxStoreBytes: limit,
  });
  for (let size = 1; size < 100; size++) {
    await get(`/${size * 50}`);
    assert.ok(made.stats().bytes <= limit);
  }
  assert.ok(made.stats().entries >= 1);
  await get(`/${limit}`);
  assert.ok(made.stats().bytes <= limit);
  assert.equal((await get(`/${limit}`)).headers.age, undefined);
  assert.equal((await get('/4950')).headers.age, '0');
});
