/** Switches and configuration: what they come to, and what is said of mistakes. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultPort } from 'millrace/dashboard';
import { preloads, run } from './run.js';

const require = createRequire(import.meta.url);
const { fieldOf, readSettings } = require('../../dist/auto/settings.cjs');
const { readField } = require('@millrace/base/schema');
const Ajv = require(require.resolve('ajv', { paths: [require.resolve('fastify')] }));
const schema = require('millrace/config.schema.json');

const defaults = {
  mode: 'act',
  ws: true,
  fs: true,
  dns: true,
  reads: true,
  net: false,
  guard: false,
  monitor: false,
  stalls: false,
  dashboard: false,
  metrics: false,
  file: null,
};
const nowhere = '/no/such/folder';

function folderWith(t, content) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(folder, 'millrace.config.json'), text);
  return folder;
}

test('switches', () => {
  const dashboard = { host: '127.0.0.1', port: defaultPort, token: null };
  const cases = {
    '': {},
    on: {},
    ',': {},
    observe: { mode: 'observe' },
    'observe,on': {},
    'net, guard,no-fs': { net: true, guard: true, fs: false },
    'guard-shadow': { guard: { observe: true } },
    'guard,guard-shadow': { guard: { observe: true } },
    'guard-shadow,guard': { guard: { observe: true } },
    'guard-shadow,no-guard': {},
    'all,no-guard': { net: true, monitor: true, stalls: true },
    'stalls,no-monitor': { stalls: true },
    'no-ws,ws': {},
    dashboard: { dashboard },
    'dashboard,no-dashboard': {},
  };
  for (const [MILLRACE, expected] of Object.entries(cases)) {
    assert.deepEqual(readSettings({ MILLRACE }, nowhere), { ...defaults, ...expected }, MILLRACE);
  }
  const off = {
    ...defaults,
    mode: 'off',
    ws: false,
    fs: false,
    dns: false,
    reads: false,
  };
  assert.deepEqual(readSettings({ MILLRACE: 'off,nonsense', MILLRACE_CONFIG: '/no' }), off);
});

test('the address of the dashboard', () => {
  const of = (MILLRACE_DASHBOARD, more = {}) =>
    readSettings({ MILLRACE_DASHBOARD, ...more }, nowhere).dashboard;
  assert.deepEqual(of('localhost:0'), { host: 'localhost', port: 0, token: null });
  assert.deepEqual(of('[::1]:9000', { MILLRACE_DASHBOARD_TOKEN: 'x' }), {
    host: '::1',
    port: 9000,
    token: 'x',
  });
  assert.equal(of('localhost:0', { MILLRACE: 'no-dashboard' }), false);
  for (const bad of ['9000', 'localhost', 'localhost:65536', '::1:9000', ':9000']) {
    assert.throws(
      () => of(bad),
      /the environment: 'MILLRACE_DASHBOARD' is ".*"; it must be HOST:PORT/,
    );
  }
});

test('the address of probes', (t) => {
  const of = (MILLRACE_PROBES, more = {}, folder = nowhere) =>
    readSettings({ MILLRACE_PROBES, ...more }, folder).stalls;
  assert.deepEqual(of('0.0.0.0:7118'), { probes: { host: '0.0.0.0', port: 7118 } });
  assert.equal(of('0.0.0.0:7118', { MILLRACE: 'no-stalls' }), false);
  const folder = folderWith(t, { stalls: { limit: 50, probes: { port: 1, readyAfter: 9 } } });
  const probes = { host: 'localhost', port: 0, readyAfter: 9 };
  assert.deepEqual(of('localhost:0', {}, folder), { limit: 50, probes });
  assert.throws(
    () => of('7118'),
    /the environment: 'MILLRACE_PROBES' is "7118"; it must be HOST:PORT/,
  );
});

test('the environment goes before the file, the file before the defaults', (t) => {
  const folder = folderWith(t, {
    ws: { maxDelay: 5 },
    fs: false,
    guard: { slice: 20 },
    dashboard: { port: 1 },
  });
  const file = join(folder, 'millrace.config.json');
  const base = { ...defaults, ws: { maxDelay: 5 }, fs: false, guard: { slice: 20 }, file };
  const dashboard = { host: '127.0.0.1', port: 1, token: null };
  assert.deepEqual(readSettings({}, folder), { ...base, dashboard });
  const env = { MILLRACE: 'fs,guard,no-ws', MILLRACE_DASHBOARD_TOKEN: 'x' };
  const expected = { ...base, fs: true, ws: false, dashboard: { ...dashboard, token: 'x' } };
  assert.deepEqual(readSettings(env, folder), expected);
  assert.deepEqual(readSettings({ MILLRACE_CONFIG: file }, nowhere), { ...base, dashboard });
  const off = folderWith(t, { mode: 'off', net: true });
  assert.equal(readSettings({}, off).net, false);
  assert.equal(readSettings({ MILLRACE: 'on' }, off).net, true);
  assert.equal(readSettings({}, folderWith(t, '\uFEFF{}')).mode, 'act');
});

test('switches that no comma separates', () => {
  const of = (MILLRACE) => () => readSettings({ MILLRACE }, nowhere);
  for (const MILLRACE of ['net guard', ' net  guard ', 'net;guard', 'net:guard', 'net+guard']) {
    assert.throws(of(MILLRACE), ({ message }) => {
      assert.match(
        message,
        /^the environment: 'MILLRACE' is "net.*guard"; it must be with commas: /,
      );
      assert.ok(message.endsWith(': net,guard'), message);
      return true;
    });
  }
  assert.throws(of('net gard'), /MILLRACE: unknown option 'net gard'/);
});

test('mistakes are reported in one sentence', (t) => {
  const cases = [
    [{ gard: true }, /config\.json: unknown option 'gard' \(is 'guard' meant\?\); known are/],
    [
      { ws: { maxDelai: 1 } },
      /config\.json: unknown option 'ws\.maxDelai' \(is 'maxDelay' meant\?\)/,
    ],
    [
      { ws: { maxDelay: -1 } },
      /config\.json: 'ws\.maxDelay' is -1; it must be a number from 0 to 60000/,
    ],
    [{ ws: 'yes' }, /'ws' is "yes"; it must be true or false, or an object/],
    [{ fs: null }, /'fs' is null; it must be true or false/],
    [{ mode: 'on' }, /'mode' is "on"; it must be one of 'act', 'observe', 'off'/],
    [
      { guard: { classes: { reports: 'low' } } },
      /'guard\.classes' is an object with the name "reports"; .* names are a text that matches/,
    ],
    [
      { guard: { classes: { '/a': 'urgent' } } },
      /'guard\.classes\.\/a' is "urgent"; it must be one of 'high'/,
    ],
    [
      { reads: { minRead: 8192, maxRead: 4096 } },
      /'reads\.minRead' is 8192; it must be at most 'maxRead', which is 4096/,
    ],
    [{ dashboard: { token: 12345678 } }, /'dashboard\.token' is <number>; it must be a text/],
    [[], /config\.json: 'content' is an array of 0; it must be an object/],
    ['{', /config\.json: the configuration is not valid JSON: /],
  ];
  for (const [content, message] of cases) {
    assert.throws(() => readSettings({}, folderWith(t, content)), { message });
  }
  const folder = folderWith(t, {});
  assert.throws(() => readSettings({ MILLRACE_CONFIG: folder }), /cannot be read: EISDIR/);
  assert.throws(() => readSettings({ MILLRACE_CONFIG: '/no/such' }), /cannot be read: ENOENT/);
  assert.throws(
    () => readSettings({ MILLRACE: 'obsrve' }),
    /MILLRACE: unknown option 'obsrve' \(is 'observe' meant\?\)/,
  );
});

for (const [flag, preload] of Object.entries(preloads)) {
  test(`a process with mistakes does not start, ${flag}`, async () => {
    const program = [...preload, '--eval', 'console.log("started")'];
    const envs = [
      { MILLRACE: 'moniter' },
      { MILLRACE_CONFIG: '/no/such/file.json' },
      { MILLRACE_DASHBOARD: 'nowhere' },
    ];
    const said = [];
    for (const env of envs) {
      const { code, stdout, stderr } = await run(program, { env });
      assert.deepEqual([code, stdout], [9, '']);
      assert.match(stderr, /^millrace: [^\n]+\n$/);
      said.push(stderr);
    }
    assert.match(said[0], /is 'monitor' meant\?/);
  });
}

test('a configuration in the working folder is found', async (t) => {
  const folder = folderWith(t, { fs: 1 });
  mkdirSync(join(folder, 'inside'));
  const start = ['--require', require.resolve('millrace/auto'), '--eval', ''];
  assert.equal((await run(start, { cwd: folder })).code, 9);
  assert.equal((await run(start, { cwd: join(folder, 'inside') })).code, 0);
});

/** Contents with what is said of them: by the schema, and, where it differs, by the order of two settings. */
const values = [
  undefined,
  true,
  false,
  null,
  0,
  0.5,
  1,
  2,
  7,
  41,
  43,
  99,
  100,
  4095,
  4096,
  65_536,
  262_143,
  1_000_001,
  2 ** 31,
  2 ** 53,
  -1,
  '',
  'auto',
  'x',
  'x y',
  '127.0.0.1',
  [],
  {},
];

function* contents(of, wrap) {
  for (const value of values) yield wrap(value);
  for (const alternative of of.anyOf ?? [of]) {
    for (const [name, inner] of Object.entries(alternative.properties ?? {})) {
      yield* contents(inner, (value) => wrap({ [name]: value }));
    }
    if (alternative.properties !== undefined) yield wrap({ unknown: 1 });
    if (typeof alternative.additionalProperties === 'object') {
      for (const key of ['/a', 'GET /a', '*', 'a', 'GET', '/a b']) yield wrap({ [key]: 'low' });
      yield wrap({ '/a': 'middle' });
    }
  }
}

/** Of a guard: in and out of order. */
const limits = [1, 2, 8, 30].flatMap((a) =>
  [1, 5].flatMap((b) => [
    { concurrency: { min: a, max: b } },
    { concurrency: { initial: a, max: b } },
    { concurrency: { min: a, initial: b } },
    { concurrency: { min: b, initial: a, max: 10 } },
    { rejectDelay: { min: a, max: b } },
  ]),
);

const ajv = new (Ajv.default ?? Ajv)({ strict: true, strictTypes: false });

const field = fieldOf(schema);

function mistakeIn(content) {
  try {
    readField({ what: 'file', error: (message) => new Error(message) }, content, field, '');
    return null;
  } catch (error) {
    return error.message;
  }
}

test('the schema is checked as its standard says', () => {
  const validate = ajv.compile(schema);
  let [valid, invalid] = [0, 0];
  for (const made of contents(schema, (value) => value)) {
    const content = made === undefined ? {} : JSON.parse(JSON.stringify(made));
    const mistake = mistakeIn(content);
    assert.equal(mistake === null, validate(content), `${JSON.stringify(content)}: ${mistake}`);
    if (mistake === null) valid++;
    else invalid++;
  }
  assert.ok(valid > 100 && invalid > 500, `${valid} and ${invalid}`);
});

test('a file accepts exactly the options of the features', async (t) => {
  const { readOptions } = await import('../../dist/net/read-options.js');
  const { monitor } = await import('@millrace/monitor');
  const { Guard } = await import('@millrace/guard');
  const { install } = await import('millrace/ws');
  const { stallOptions } = await import(
    import.meta.resolve('@millrace/monitor/stalls').replace('imports/stalls.cjs', 'options.cjs')
  );
  const takes = {
    stalls: stallOptions,
    reads: readOptions,
    monitor: (options) => monitor(options).stop(),
    guard: (options) => new Guard(options).close(),
    // Its options are checked before its class.
    ws: (options) => {
      try {
        install(null, options);
      } catch (error) {
        if (error.code === 'MILLRACE_E_INVALID_OPTION') throw error;
      }
    },
  };
  const folder = folderWith(t, {});
  const file = join(folder, 'millrace.config.json');
  const throws = (fn) => {
    try {
      fn();
      return false;
    } catch {
      return true;
    }
  };
  for (const [name, take] of Object.entries(takes)) {
    const table = schema.properties[name].anyOf[1];
    const names = Object.keys(table.properties);
    const pairs = names.flatMap((one) =>
      names.flatMap((two) =>
        [
          [2, 1],
          [1, 2],
          [65_536, 8192],
          [43, 42],
          [400_000, 300_000],
          [8, 3],
        ].map(([a, b]) => ({ [one]: a, [two]: b })),
      ),
    );
    const inner = table.properties.concurrency === undefined ? [] : limits;
    for (const made of [...contents(table, (value) => value), ...pairs, ...inner]) {
      if (typeof made !== 'object' || made === null || Array.isArray(made)) continue;
      const options = JSON.parse(JSON.stringify(made));
      writeFileSync(file, JSON.stringify({ [name]: options }));
      const refused = throws(() => readSettings({}, folder));
      assert.equal(
        refused,
        throws(() => take(options)),
        `${name}: ${readFileSync(file)}`,
      );
    }
  }
});
