/** Each feature acts, is switched off and on, and puts back what was there. The programs assert by themselves. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasVirtualFiles, preloads, programs, run, runJson } from './run.js';

const { nativeError } = await import('../../dist/native/load.js');
const auto = createRequire(import.meta.url).resolve('millrace/auto');

async function assertPasses(args, options) {
  const { code, stderr } = await run(args, options);
  assert.equal(stderr, '');
  assert.equal(code, 0);
}

async function assertLeftAlone(preload) {
  const ask = "console.log(JSON.stringify(process[Symbol.for('millrace.auto')].features.fs.why))";
  assert.match(await runJson([...preload, '--eval', ask]), /^Node\.js v\S+ has virtual files, /);
}

function temporary(t) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-auto-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

for (const [flag, preload] of Object.entries(preloads)) {
  test(`files, ${flag}`, async (t) => {
    if (hasVirtualFiles) return assertLeftAlone(preload);
    await assertPasses([...preload, `${programs}files.mjs`, join(temporary(t), 'log')]);
  });
}

test('appends beyond the bound go to Node.js, and none is refused', async (t) => {
  if (hasVirtualFiles) return;
  const args = [`${programs}many-appends.mjs`, join(temporary(t), 'log')];
  const { lines, stats } = await runJson([...preloads['--import'], ...args]);
  assert.deepEqual(
    lines.sort((a, b) => a - b),
    Array.from({ length: 500 }, (_, i) => i),
  );
  assert.equal(stats.refused, 0);
  // 256 bytes and its own for each, and as many as fit.
  assert.equal(stats.appends, 10);
});

test('prototypes of node:net', async () => {
  await assertPasses([...preloads['--import'], `${programs}prototypes.mjs`]);
});

test("an application's own coalesce() stays", async () => {
  await assertPasses([...preloads['--import'], `${programs}own-coalesce.mjs`], {
    env: { MILLRACE: 'net' },
  });
});

test("an application's own install() stays", async () => {
  await assertPasses([...preloads['--import'], `${programs}own-install.mjs`]);
});

test('an earlier replacement of readFile sees each call', async () => {
  const code = `
    import { readFile } from 'node:fs/promises';
    await Promise.all([readFile(process.execPath + '/..').catch(() => {}), readFile('run.js')]);
    await Promise.all([readFile('run.js'), readFile('run.js')]);
    const { why } = process[Symbol.for('millrace.auto')].features.fs;
    console.log(JSON.stringify({ name: readFile.name, calls: readFile.calls >= 4, why }));
  `;
  const args = ['--require', `${programs}wraps-files.cjs`, ...preloads['--require']];
  const { name, calls, why } = await runJson([...args, '--input-type=module', '--eval', code]);
  assert.equal(name, 'watched');
  assert.ok(calls);
  assert.match(why, /readFile was replaced before/);
});

test('files are left to Node.js where looking beneath node:fs prints a warning', async () => {
  if (hasVirtualFiles) return;
  const code = `
    const { fs: { why } } = process[Symbol.for('millrace.auto')].features;
    const fs = require('node:fs');
    console.log(JSON.stringify({ why, isOriginal: /FSReqCallback/.test(String(fs.stat)) }));
  `;
  const args = ['--pending-deprecation', ...preloads['--require'], '--eval', code];
  const { why, isOriginal } = await runJson(args);
  assert.match(why, /^process\.binding warns or was replaced/);
  assert.ok(isOriginal);
});

test('reads that come in bulk', async () => {
  const { same, state, why } = await runJson([...preloads['--import'], `${programs}bulk.mjs`]);
  assert.ok(same);
  if (nativeError === null) assert.deepEqual({ state, why }, { state: 'active', why: null });
  else assert.equal(why, nativeError);
});

test('reads without the addon say why not', async () => {
  const env = { MILLRACE_NATIVE: '0' };
  const result = await runJson([...preloads['--import'], `${programs}bulk.mjs`], { env });
  assert.deepEqual(result, { same: true, state: 'waiting', why: 'MILLRACE_NATIVE is 0' });
});

for (const [flag, preload] of Object.entries(preloads)) {
  test(`fan-out comes before the writes of a turn, ${flag}`, async () => {
    const env = { MILLRACE: 'net' };
    const { same, state, saved } = await runJson([...preload, `${programs}module.mjs`], { env });
    assert.deepEqual({ same, state }, { same: true, state: 'active' });
    assert.ok(saved > 0);
  });

  test(`writes of a turn, ${flag}`, async () => {
    await assertPasses([...preload, `${programs}coalesced.mjs`], { env: { MILLRACE: 'net' } });
  });

  test(`a guard for each server, ${flag}`, async (t) => {
    const folder = temporary(t);
    writeFileSync(join(folder, 'millrace.config.json'), '{ "guard": { "message": "later" } }');
    const preloaded = preload.map((arg) =>
      arg === 'millrace/auto'
        ? flag === '--import'
          ? auto.replace('start.cjs', 'index.js')
          : auto
        : arg,
    );
    await assertPasses([...preloaded, `${programs}guarded.mjs`], { cwd: folder });
  });
}

test('a guard in a worker of a cluster', async () => {
  const args = [...preloads['--require'], `${programs}guarded-worker.cjs`];
  assert.equal(await runJson(args, { env: { MILLRACE: 'guard' } }), true);
});

test('a guard in shadow refuses nothing, and says at the end what it would have done', async (t) => {
  const folder = temporary(t);
  writeFileSync(join(folder, 'millrace.config.json'), '{ "guard": { "maxWait": 20 } }');
  const args = [...preloads['--import'], `${programs}shadowed.mjs`];
  args[1] = auto.replace('start.cjs', 'index.js');
  const { code, stderr } = await run(args, { env: { MILLRACE: 'guard-shadow' }, cwd: folder });
  assert.equal(code, 0, stderr);
  const line =
    /^millrace: guard in shadow, process \d+: 20 requests, \S+ responses? late\. A guard would have refused \S+ requests? and saved \S+ responses? \(\d+ late ones in time, \d+ in time refused\)\.\n$/;
  assert.match(stderr, line);
});

test('a guard in shadow says nothing in a program without a server', async () => {
  const args = [...preloads['--import'], '-e', '0'];
  const { code, stderr } = await run(args, { env: { MILLRACE: 'guard-shadow' } });
  assert.deepEqual([code, stderr], [0, '']);
});

test('fake timers do not reach files and frames', async (t) => {
  const folder = temporary(t);
  for (const MILLRACE of ['on', 'net,no-ws']) {
    const args = [`${programs}fake-timers.mjs`, join(folder, MILLRACE)];
    const result = await runJson([...preloads['--import'], ...args], { env: { MILLRACE } });
    assert.deepEqual(result, { same: true, log: 'ab', messages: ['faked', 'real'] });
  }
});

for (const [MILLRACE, feeds] of Object.entries({ on: true, 'net, no-dashboard': false })) {
  test(`a process with MILLRACE=${MILLRACE} ${feeds ? 'feeds' : 'does not feed'} a dashboard`, async () => {
    const env = { MILLRACE, MILLRACE_FEED: '127.0.0.1:9', MILLRACE_FEED_TOKEN: 'none' };
    // A slow machine only makes the wait for what comes longer.
    const args = [`${programs}feed.cjs`, feeds ? '600000' : '1000'];
    const { stdout } = await run([...preloads['--require'], ...args], { env });
    assert.equal(JSON.parse(stdout), feeds);
  });
}

test('an obstacle to a feature is forgotten when it is gone', async () => {
  const code = `
    const { guard } = process[Symbol.for('millrace.auto')].features;
    const { env } = process;
    delete process.env;
    guard.on();
    const { why } = guard;
    process.env = env;
    guard.off();
    guard.on();
    console.log(JSON.stringify([why, guard.why]));
  `;
  const whys = await runJson([...preloads['--require'], '--eval', code]);
  assert.deepEqual(whys, ['the application has deleted process.env', null]);
});
