import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { buildPath } from '../build.js';
import { buildGenerator } from '../index.js';

const run = promisify(execFile);
const ctest = (...args) => run('ctest', ['--test-dir', buildPath, ...args]);

test('the parts of the generator, tested in C', async (t) => {
  await buildGenerator();
  const { stdout } = await ctest('--show-only=json-v1');
  const names = JSON.parse(stdout).tests.map(({ name }) => name);
  assert.ok(names.length > 0, 'there are tests in C');
  for (const name of names) {
    await t.test(name, async () => {
      await ctest('--output-on-failure', '--tests-regex', `^${name}$`).catch((error) =>
        assert.fail(error.stdout),
      );
    });
  }
});
