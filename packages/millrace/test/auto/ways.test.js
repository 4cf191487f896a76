/** However a program is written, started and packed: ws fans out in it, and it sends what it sent before. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { preloads, programs, runJson } from './run.js';

const require = createRequire(import.meta.url);

function assertFansOut({ same, state, saved }) {
  assert.equal(state, 'active');
  assert.ok(same);
  assert.ok(saved > 0);
}

const ways = {
  'an ES module': ['module.mjs'],
  'a CommonJS module': ['common.cjs'],
  'a worker thread': ['thread.mjs'],
  'a worker of a cluster': ['cluster.cjs'],
  'a forked child': ['forked.cjs'],
};

for (const [flag, preload] of Object.entries(preloads)) {
  for (const [what, [program]] of Object.entries(ways)) {
    test(`${what}, ${flag}`, async () => {
      assertFansOut(await runJson([...preload, programs + program]));
    });
  }
}

test('coalesced sockets: fan-out goes before that', async () => {
  const env = { MILLRACE: 'net' };
  assertFansOut(await runJson([...preloads['--import'], `${programs}common.cjs`], { env }));
});

test('NODE_OPTIONS', async () => {
  const env = { NODE_OPTIONS: '--import millrace/auto' };
  assertFansOut(await runJson([`${programs}common.cjs`], { env }));
});

test('TypeScript by tsx', async () => {
  const args = [...preloads['--import'], '--import', 'tsx', `${programs}typed.ts`];
  const result = await runJson(args);
  assertFansOut(result);
  assert.equal(result.kind, 'typed');
});

test('without it nothing is different but that nothing is saved', async () => {
  const result = await runJson([`${programs}module.mjs`]);
  assert.deepEqual(result, { same: true, state: 'none', saved: 0 });
});

/** A bundle in a folder where no package is installed. */
function bundled(t, source, format) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bundle-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const esbuild = require.resolve('esbuild/bin/esbuild', {
    paths: [dirname(require.resolve('tsx/package.json'))],
  });
  const bundle = join(folder, `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`);
  const how = ['--bundle', '--minify', '--platform=node', `--format=${format}`];
  execFileSync(esbuild, [source, ...how, `--outfile=${bundle}`], { stdio: 'pipe' });
  return bundle;
}

test('a bundle, minified', async (t) => {
  const bundle = bundled(t, `${programs}common.cjs`, 'cjs');
  const env = { SOURCES: import.meta.resolve('@millrace/base/sources') };
  assertFansOut(await runJson([...preloads['--import'], bundle], { env }));
});

test('a bundle that has auto in it', async (t) => {
  const bundle = bundled(t, `${programs}imports.mjs`, 'esm');
  assert.deepEqual(await runJson([bundle]), { fs: 'waiting', mode: 'act' });
});

test('two copies of ws in one tree', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-copy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(dirname(require.resolve('ws')), folder, { recursive: true, dereference: true });
  const args = [...preloads['--import'], `${programs}two-copies.cjs`, folder];
  const { results, differ } = await runJson(args);
  assert.ok(differ);
  for (const result of results) assertFansOut(result);
  assert.ok(results[1].saved > results[0].saved);
});

test('preloaded in both ways, and imported', async () => {
  const code = `
    import { features } from ${JSON.stringify(pathToFileURL(require.resolve('millrace/auto').replace('start.cjs', 'index.js')).href)};
    console.log(JSON.stringify(features === process[Symbol.for('millrace.auto')].features));
  `;
  const both = [...preloads['--require'], ...preloads['--import']];
  assert.equal(await runJson([...both, '--input-type=module', '--eval', code]), true);
  assert.equal(await runJson(['--input-type=module', '--eval', code]), true);
});
