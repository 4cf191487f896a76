/** Millrace under Jest, which runs each test file in a realm of its own: as ES modules, and transformed to CommonJS. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const { resolve } = createRequire(import.meta.url);

const modes = {
  'ES modules': { flags: ['--experimental-vm-modules', '--no-warnings'], transform: {} },
  CommonJS: { flags: [], transform: { '\\.[cm]?js$': file('jest/transform.cjs') } },
};

describe('under Jest', () => {
  for (const [mode, { flags, transform }] of Object.entries(modes)) {
    test(`in ${mode} features take what Node.js makes, and true timers`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'millrace-jest-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const config = {
        ...{
          rootDir: file('../..'),
          roots: [file('jest')],
          testMatch: ['**/*.spec.js'],
          transform,
        },
        ...{ cacheDirectory: join(folder, 'cache'), testTimeout: 300_000, watchman: false },
        moduleFileExtensions: ['js', 'cjs', 'mjs', 'json', 'node'],
      };
      const env = { ...process.env, FOLDER: folder };
      Object.assign(env, {
        TASK: file('../../pool/test/foreign-error.js'),
        DOUBLES: file('doubles.js'),
      });
      delete env.NODE_OPTIONS;
      delete env.NODE_TEST_CONTEXT;
      const args = [...flags, resolve('jest/bin/jest'), '--ci', '--runInBand', '--json'];
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...args, '--config', JSON.stringify(config)],
        { env, timeout: 540_000 },
      ).catch((error) => assert.fail(`${error.stderr}`));
      const { success, numPassedTests } = JSON.parse(stdout);
      assert.equal(success, true);
      assert.ok(numPassedTests >= 7);
    });
  }
});
