/** Whatever is wrong with a file of tests, the process that runs it ends with a failure. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../lib/paths.js';

const later = 'new Promise((resolve) => setTimeout(resolve, 20))';
const failing = {
  'a test fails': "test('a', () => { throw new Error('no'); });",
  'a test takes too long': "test('a', { timeout: 50 }, () => new Promise(() => {}));",
  'a hook fails': "test.after(() => { throw new Error('no'); }); test('a', () => {});",
  'it is no program': 'const a = ;',
  'it imports what is not there': "import './nowhere.js';",
  'it has no test': '',
  'it ends itself with 0 at once': "test('a', () => process.exit(0));",
  'it ends itself with 0 later': `test('a', () => {}); test('b', async () => { await ${later}; process.exit(0); });`,
  'it ends with another code':
    "test('a', () => {}); process.on('exit', () => { process.exitCode = 3; });",
  'it is killed': `test('a', async () => { await ${later}; process.kill(process.pid, 'SIGKILL'); });`,
  'something throws between its tests': `test('a', () => { setImmediate(() => { throw new Error('no'); }); }); test('b', () => ${later});`,
  'something rejects after its tests':
    "test('a', () => { setTimeout(() => Promise.reject(new Error('no')), 20); });",
};
const passing = {
  'its tests pass': `test('a', async (t) => { await t.test('b', () => ${later}); });`,
  'a test is skipped': "test.skip('a', () => {});",
  'a test that is to do fails': "test.todo('a', () => { throw new Error('not yet'); });",
};

async function run(t, text, whenBegun = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-suite-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, tally] = ['some.test.mjs', 'tally.json'].map((name) => join(folder, name));
  writeFileSync(file, text === '' ? '' : `import { test } from 'node:test';\n${text}\n`);
  const settings = JSON.stringify({ files: [file], concurrency: 1, timeout: 600_000, tally });
  // Within a test node:test would run nothing.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const args = [join(root, 'scripts/lib/suite-run.js'), settings];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.once('data', () => whenBegun(child)).resume();
  const [code] = await once(child, 'exit');
  return { code, tally: JSON.parse(readFileSync(tally, 'utf8')) };
}

describe('a file of tests', { concurrency: 3 }, () => {
  for (const [what, text] of Object.entries(failing)) {
    test(`fails: ${what}`, async (t) => assert.equal((await run(t, text)).code, 1));
  }

  test('is named with the test that failed, and not with the group around it', async (t) => {
    const text = `test('a', async (t) => { await t.test('b', () => { throw new Error('no'); }); });
      test.todo('c', () => { throw new Error('not yet'); });`;
    const { failedNames } = (await run(t, text)).tally;
    assert.equal(failedNames.length, 1);
    assert.match(failedNames[0], /some\.test\.mjs:2: b$/);
  });

  test('fails: it never ends, until it is asked to', async (t) => {
    const text = "test('a', () => {}); setInterval(() => {}, 1000);";
    const { code, tally } = await run(t, text, (child) => child.kill());
    assert.deepEqual([code, tally.failed], [1, 1]);
  });

  for (const [what, text] of Object.entries(passing)) {
    test(`passes: ${what}`, async (t) => {
      const { code, tally } = await run(t, text);
      assert.deepEqual([code, tally.failed], [0, 0]);
    });
  }
});
