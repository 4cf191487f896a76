/** What a process that ends leaves behind: as much as without coalescing, where anything can still run. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { arms, collect } from './pair.js';

const child = fileURLToPath(new URL('./child.js', import.meta.url));

/** Runs a child that ends so; gives what arrived from it, without coalescing and with it. */
async function run(t, how) {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const received = [];
  const connected = new Promise((resolve) => {
    server.on('connection', (peer) => {
      if (received.push(collect(peer)) === Object.keys(arms).length) resolve();
    });
  });
  const { port } = server.address();
  // No core files of those that abort.
  const args = ['-c', 'ulimit -c 0; exec "$0" "$@"', process.execPath, child, port, how];
  const running = spawn('sh', args.map(String), { stdio: 'ignore' });
  await Promise.all([once(running, 'exit'), connected]);
  await Promise.all(received.map(({ ended }) => ended));
  return received.map(({ text }) => text());
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
    assert.deepEqual(await run(t, how), ['012', '012']);
  });
}

test('data written by listeners of exit leaves as well', async (t) => {
  assert.deepEqual(await run(t, 'writes on exit'), ['012345', '012345']);
});
