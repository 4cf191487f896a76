/** Fake timers, as tests of applications put them in, stop nothing: ends of turns and delays are on the true clock. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('faked.js', import.meta.url));
/** What waits for fake time would wait for ever. */
const timeout = 20_000;

for (const kind of ['sinon', 'node:test']) {
  for (const scene of ['batch', 'emitter', 'guard', 'pool', 'rooms']) {
    test(`${scene} under the fake timers of ${kind}`, async () => {
      const args = ['--no-warnings', program, kind, scene];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout });
      assert.equal(stdout + stderr, '');
    });
  }
}
