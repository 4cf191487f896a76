/** What a process that ends leaves behind: as much as without coalescing, where anything can still run. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { arms, collect } from './pair.js';

const child = fileURLToPath(new URL('./child.js', import.meta.url));

/** Runs a child that ends so; gives what arrived from it. */
async function run(t, how, arm) {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const { port } = server.address();
  // No core files of those that abort.
  const args = ['-c', 'ulimit -c 0; exec "$0" "$@"', process.execPath, child, port, how, arm];
  const running = spawn('sh', args.map(String), { stdio: 'ignore' });
  const exited = once(running, 'exit');
  const [peer] = await accepted;
  const received = collect(peer);
  await Promise.all([exited, received.ended]);
  return received.text();
}

for (const how of [
  'process.exit()',
  'exit in a later tick',
  'an uncaught error',
  'an unhandled rejection',
  'an empty loop',
  'a worker that exits',
  // They emit no 'exit'.
  'SIGKILL',
  'reallyExit',
  'abort',
]) {
  test(`${how}: nothing is lost`, async (t) => {
    const texts = await Promise.all(Object.keys(arms).map((arm) => run(t, how, arm)));
    assert.deepEqual(texts, ['012', '012']);
  });
}

test('data written by listeners of exit leaves as well', async (t) => {
  const texts = await Promise.all(Object.keys(arms).map((arm) => run(t, 'writes on exit', arm)));
  assert.deepEqual(texts, ['012345', '012345']);
});
