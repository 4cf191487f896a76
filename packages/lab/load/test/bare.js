/**
 * `node bare.js FOLDER`: lets the generator built in a folder load the bare server built there, in short runs that use
 * most of its code. For builds that check themselves, such as those with sanitizers. Ends with 1 when either of the two
 * programs fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../run/up.js';

const folder = process.argv[2];
const common = ['--connections', '60', '--rooms', '6', '--seconds', '1.5', '--warmup', '0.2'];
const open = ['--mode', 'open', '--rate', '500', '--check-every', '1'];
const runs = [
  ['--inflight', '8', '--check-every', '1', '--payload', '3000'],
  [...open, '--pattern', 'mixed', '--slow-readers', '3'],
  [...open, '--pattern', 'spikes', '--users', 'blend', '--senders', '20'],
];

const port = await freePort();
const server = start('room-server', [`${port}`], ['ignore', 'pipe', 'inherit']);
try {
  await Promise.race([once(server.child.stdout, 'data'), server.ended]);
  for (const run of runs) {
    const args = ['--port', `${port}`, '--quiet', ...common, ...run];
    await passed('millrace-load', start('millrace-load', args, 'inherit'));
  }
} finally {
  server.child.kill();
}
await passed('room-server', server);

function start(program, args, stdio) {
  const child = spawn(join(folder, program), args, { stdio });
  return { child, ended: once(child, 'exit') };
}

async function passed(name, { ended }) {
  const [code, signal] = await ended;
  if (code === 0) return;
  console.error(`${name} ended with ${signal ?? `code ${code}`}`);
  process.exitCode = 1;
}
