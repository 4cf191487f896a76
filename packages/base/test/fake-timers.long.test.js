/** Fake timers, as tests of applications put them in, stop nothing: ends of turns and delays are on the true clock. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { natsServer, unable } from '../../nats/test/nats.js';

const program = fileURLToPath(new URL('faked.js', import.meta.url));
/** What waits for fake time would wait for ever. */
const timeout = 300_000;

const alone = ['batch', 'emitter', 'guard', 'cached', 'pool', 'rooms'];
const withBroker = ['rooms across machines', 'durable tasks'];

for (const kind of ['sinon', 'node:test']) {
  for (const scene of [...alone, ...withBroker]) {
    const skip = withBroker.includes(scene) && unable;
    test(`${scene} under the fake timers of ${kind}`, { skip }, async (t) => {
      const env = { ...process.env };
      if (withBroker.includes(scene)) env.BROKER = (await natsServer(t, { jetstream: true })).url;
      const args = ['--no-warnings', program, kind, scene];
      const options = { env, timeout };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
      assert.equal(stdout + stderr, '');
    });
  }
}
