import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { buildPath } from '../build.js';
import { buildGenerator } from '../index.js';

const run = promisify(execFile);
const ctest = (...args) => run('ctest', ['--test-dir', buildPath, ...args]);

test('the parts of the generator, tested in C', async () => {
  await buildGenerator();
  const { stdout } = await ctest('--output-on-failure').catch((error) => assert.fail(error.stdout));
  assert.match(stdout, /^100% tests passed, 0 tests failed out of [1-9]\d*$/m);
});
