/** Each feature acts, is switched off and on, and puts back what was there. The programs assert by themselves. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { preloads, programs, run, runJson } from './run.js';

const { nativeError } = await import('../../dist/native/load.js');
const auto = createRequire(import.meta.url).resolve('millrace/auto');

async function assertPasses(args, options) {
  const { code, stderr } = await run(args, options);
  assert.equal(stderr, '');
  assert.equal(code, 0);
}

function temporary(t) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-auto-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

for (const [flag, preload] of Object.entries(preloads)) {
  test(`files, ${flag}`, async (t) => {
    await assertPasses([...preload, `${programs}files.mjs`, join(temporary(t), 'log')]);
  });
}

test('prototypes of node:net', async () => {
  await assertPasses([...preloads['--import'], `${programs}prototypes.mjs`]);
});

test('who has replaced readFile before sees each call', async () => {
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
