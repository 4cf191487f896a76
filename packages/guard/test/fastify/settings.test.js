// Settings from a file or an object, and what is wrong with them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import plugin, { loadSettings } from '@millrace/guard';
import Fastify from 'fastify';
import { patience } from '../patience.js';
import { until } from './app.js';

const invalid = 'MILLRACE_E_INVALID_OPTION';

function folderWith(t, files) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-settings-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function load(t, name, text) {
  return loadSettings(join(folderWith(t, { [name]: text }), name));
}

const loadJson = (t, content) => load(t, 'a.json', JSON.stringify(content));

const content = {
  $schema: 'https://example.org/schema.json',
  server: {
    hostname: '{HOST}',
    port: 3042,
    healthCheck: {
      interval: 2000,
      maxEventLoopDelay: 1000,
      maxHeapUsedBytes: 100_000_000,
      maxRssBytes: 100_000_000,
      maxEventLoopUtilization: 0.98,
    },
    guard: { classes: { 'GET /checkout': 'high' }, maxWait: { high: 500 } },
  },
};
const { guard: ownGuard, ...server } = content.server;
/** The guard at either place. */
const files = {
  'platformatic.service.json': JSON.stringify(content),
  'millrace.json': JSON.stringify({ server, guard: ownGuard }),
};

const expected = {
  healthCheckInterval: 2000,
  exposeStatusRoute: '/status',
  maxEventLoopDelay: 1000,
  maxHeapUsedBytes: 100_000_000,
  maxRssBytes: 100_000_000,
  maxEventLoopUtilization: 0.98,
  guard: { classes: { 'GET /checkout': 'high' }, maxWait: { high: 500 } },
};

for (const [name, text] of Object.entries(files)) {
  test(`${name}, by its path, by its folder, and parsed`, async (t) => {
    const folder = folderWith(t, { [name]: text });
    assert.deepEqual(await loadSettings(join(folder, name)), expected);
    assert.deepEqual(await loadSettings(folder), expected);
    assert.deepEqual(await loadSettings(JSON.parse(text)), expected);
  });
}

/** As parsers of TOML make them. */
const bare = (value) => {
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, each]) => [name, bare(each)]);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
};

test('objects without a prototype are settings, too', async () => {
  assert.deepEqual(structuredClone(await loadSettings(bare(content))), expected);
});

test('of several files in a folder, the more particular name counts', async (t) => {
  const named = (interval) => JSON.stringify({ server: { healthCheck: { interval } } });
  const folder = folderWith(t, {
    'millrace.json': named(1),
    'platformatic.json': named(2),
    'platformatic.service.json': named(3),
    'watt.json': named(4),
  });
  assert.equal((await loadSettings(folder)).healthCheckInterval, 3);
  rmSync(join(folder, 'platformatic.service.json'));
  assert.equal((await loadSettings(folder)).healthCheckInterval, 2);
});

for (const [healthCheck, settings] of [
  [true, { healthCheckInterval: 5000, exposeStatusRoute: '/status' }],
  [{}, { healthCheckInterval: 5000, exposeStatusRoute: '/status' }],
  [false, {}],
  [null, {}],
  [{ enabled: false, interval: 10 }, {}],
  [
    { enabled: true, interval: 0 },
    { healthCheckInterval: 0, exposeStatusRoute: '/status' },
  ],
  [
    { interval: 10, healthCheckInterval: 20, exposeStatusRoute: false, retryAfter: 3 },
    { healthCheckInterval: 20, exposeStatusRoute: false, retryAfter: 3 },
  ],
]) {
  test(`server.healthCheck: ${JSON.stringify(healthCheck)}`, async (t) => {
    assert.deepEqual(await loadJson(t, { server: { healthCheck } }), settings);
  });
}

test('a file without any of it, and with a byte order mark', async (t) => {
  assert.deepEqual(await loadJson(t, { server: { port: 1 } }), {});
  assert.deepEqual(await loadJson(t, {}), {});
  assert.deepEqual(await load(t, 'a.json', '\uFEFF{"guard":false}'), { guard: false });
});

/** What is wrong in a file, and what the error says. */
const wrong = [
  [
    { server: { healthCheck: { maxEventLoopDelai: 5 } } },
    /a\.json: unknown option 'server.healthCheck.maxEventLoopDelai' \(is 'maxEventLoopDelay' meant\?\)/,
  ],
  [
    { server: { healthCheck: { colour: 5 } } },
    /'server.healthCheck.colour'; known are enabled, interval/,
  ],
  [
    { server: { healthCheck: { maxRssBytes: -1 } } },
    /a\.json: 'server.healthCheck.maxRssBytes' is -1; /,
  ],
  [
    { server: { healthCheck: { interval: '{INTERVAL}' } } },
    /'server.healthCheck.interval' is "\{INTERVAL\}"/,
  ],
  [{ server: { healthCheck: { enabled: 'yes' } } }, /'server.healthCheck.enabled' is "yes"/],
  [
    { server: { healthCheck: 5 } },
    /'server.healthCheck' is 5; it must be true or false, or an object/,
  ],
  [
    { server: { healthCheck: { enabled: false, maxRssBytes: 'all' } } },
    /'server.healthCheck.maxRssBytes' is "all"/,
  ],
  [{ guard: { maxwait: 5 } }, /unknown option 'guard.maxwait' \(is 'maxWait' meant\?\)/],
  [{ guard: { classify: 'x' } }, /unknown option 'guard.classify'/],
  [{ guard: { slice: 0 } }, /a\.json: 'guard.slice' is 0/],
  [
    { server: { guard: { classes: { '/a': 'best' } } } },
    /a\.json: 'server\.guard\.classes\.\/a' is "best"/,
  ],
  [{ guard: 'on' }, /'guard' is "on"/],
  [
    { guard: true, server: { guard: true } },
    /'server.guard' is true; it must be left out beside 'guard'/,
  ],
  [{ server: [] }, /'server' is an array of 0; it must be an object/],
  [[], /'options' is an array of 0/],
];

for (const [content, message] of wrong) {
  test(`refuses ${JSON.stringify(content)}`, async (t) => {
    await assert.rejects(loadJson(t, content), { code: invalid, message });
    await assert.rejects(loadSettings(content), { code: invalid });
  });
}

const long = '"padding": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"';
for (const [name, text, line] of [
  ['a.json', '{\n "server": {\n  "healthCheck": {"interval": 2000,,}\n }\n}', 3],
  ['a.json', `{\n ${long},\n "server": @,\n ${long}\n}`, 3],
  ['a.json', '{\n "a": tru\n}', 2],
  ['a.json', '{\n "a": }', 2],
  ['a.json', '{\n "server": {\n', 3],
  ['a.json', '', 1],
  ['a.toml', '[server]\nport = 1\n', 1],
]) {
  test(`${name} that is broken in line ${line}: ${JSON.stringify(text)}`, async (t) => {
    await assert.rejects(load(t, name, text), {
      code: invalid,
      message: new RegExp(`cannot parse .*${name}:${line}: .`),
    });
  });
}

test('a file or folder that is not there, has no settings, or is of another format', async (t) => {
  const folder = folderWith(t, { 'a.toml': '[server]' });
  for (const [path, message] of [
    [join(folder, 'none.json'), /cannot read the settings file .*none\.json/],
    [join(folder, 'a.toml'), /; parse it yourself if it is not JSON, and give the result$/],
    [
      folder,
      /no settings file in .*; searched for platformatic\.service\.json, platformatic\.json/,
    ],
    ['', /'source' is ""; it must be the path of a file or folder, or an object/],
    [5, /'source' is 5; it must be the path of a file or folder, or an object/],
  ]) {
    await assert.rejects(loadSettings(path), { code: invalid, message });
  }
});

test('the plugin takes a path, the parsed content, or what was loaded; what is given beside it counts more', async (t) => {
  const path = join(folderWith(t, files), 'millrace.json');
  const answers = [];
  for (const options of [
    { config: path, exposeStatusRoute: '/alive', maxRssBytes: undefined },
    { config: content, exposeStatusRoute: '/alive' },
    { ...(await loadSettings(path)), exposeStatusRoute: '/alive' },
  ]) {
    const app = Fastify(patience);
    t.after(() => app.close());
    await app.register(plugin, { maxHeapUsedBytes: 0, sampleInterval: 20, ...options });
    assert.equal(app.millraceGuard.options.maxWait.high, 500);
    answers.push((await app.inject('/alive')).statusCode, (await app.inject('/status')).statusCode);
  }
  assert.deepEqual(answers, [200, 404, 200, 404, 200, 404]);
});

test('an option that is undefined does not hide what the file says', async (t) => {
  const settings = { server: { healthCheck: { maxRssBytes: 1, sampleInterval: 10 } } };
  const folder = folderWith(t, { 'millrace.json': JSON.stringify(settings) });
  const app = Fastify(patience);
  t.after(() => app.close());
  await app.register(plugin, { config: folder, maxRssBytes: undefined });
  await until(() => app.isUnderPressure());
});

test('a broken file keeps the application from starting', async () => {
  const app = Fastify(patience);
  app.register(plugin, { config: '/nowhere/platformatic.json' });
  await assert.rejects(app.ready(), { code: invalid, message: /\/nowhere\/platformatic\.json/ });
});
