/** A redis-server of this run's own: it listens on this machine alone and keeps nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../../packages/lab/run/up.js';
import { find } from '../../../scripts/debian.js';
import { listening } from '../../lib/listening.js';
import { Refused } from '../../lib/refused.js';

/** Starts the server; `stop()` ends it. */
export async function startRedis() {
  const command = find('redis-server');
  if (!command)
    throw new Refused('there is no redis-server; on Debian: apt-get install redis-server');
  const port = await freePort();
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn(command, args.map(String), { stdio: 'ignore' });
  const exited = once(server, 'exit');
  const failed = exited.then(([code]) => {
    throw new Refused(`redis-server ended with ${code} before it listened`);
  });
  await Promise.race([listening(port), failed]);
  failed.catch(() => {});
  return {
    port,
    async stop() {
      server.kill();
      await exited;
    },
  };
}
