/** `make setup PART=node` in a fresh clone, where the PATH has no compiler and no Python: with an addon of `make prebuilds`, and without one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../lib/paths.js';
import { writePlatformPackage } from '../lib/platform-package.js';
import { which } from '../lib/which.js';

/** Programs that a machine for the node part has to have. */
const programs = ['node', 'npm', 'make', 'git', 'sh', 'sed', 'awk', 'env'];
const { thisPlatform } = createRequire(import.meta.url)(
  join(root, 'packages/millrace/dist/native/platforms.cjs'),
);
const builtAddon = join(root, 'packages/millrace/addon/build/Release/millrace.node');
const limitMs = 600_000;
const run = promisify(execFile);

let folder;
let clone;
let env;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace setup '));
  clone = join(folder, 'clone');
  await run('git', ['clone', '--quiet', '--no-local', root, clone]);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of programs) {
    const path = name === 'node' ? process.execPath : which(name);
    assert.ok(path, `needs ${name}`);
    symlinkSync(path, join(bin, name));
  }
  const { CC, CXX, ...others } = process.env;
  env = { ...others, PATH: bin };
});
after(() => rmSync(folder, { recursive: true, force: true }));

const setUp = () => run('make', ['setup', 'PART=node'], { cwd: clone, env, timeout: limitMs });

describe('make setup PART=node without a compiler', () => {
  test('says what to install where there is no addon', async () => {
    await assert.rejects(setUp, ({ code, stdout, stderr }) => {
      assert.equal(code, 2);
      assert.match(stdout + stderr, /Millrace needs .*; install it with: apt-get install /);
      return true;
    });
  });

  test('takes the addon of make prebuilds, which works', async () => {
    const place = join(clone, 'packages/millrace/prebuilds', thisPlatform());
    writePlatformPackage(thisPlatform(), builtAddon, place);
    const { stdout } = await setUp();
    assert.match(stdout, /taken from packages\/millrace\/prebuilds\//);
    const program = `
      import { batch, native } from 'millrace';
      const double = batch(async (items) => items.map((item) => item * 2));
      console.log(typeof native, await Promise.all([double(1), double(2)]));
    `;
    const args = ['--input-type=module', '-e', program];
    const shown = await run(process.execPath, args, { cwd: clone, env, timeout: limitMs });
    assert.equal(shown.stdout, 'object [ 2, 4 ]\n');
  });
});
