/** A redis-server of this run's own that writes everything to a file, and hands it to the disk as `appendfsync` says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../packages/lab/run/up.js';
import { find } from '../../../scripts/debian.js';
import { listening } from '../../lib/listening.js';
import { Refused } from '../../lib/refused.js';
import { ensureResults, resultsFolder } from '../../lib/results.js';
import { endWithThis } from './server.js';

/**
 * @param {'no' | 'everysec'} appendfsync
 * @returns {Promise<{ port: number, pid: number, stop(): Promise<void> }>}
 */
export async function startRedis(appendfsync) {
  const command = find('redis-server');
  if (!command)
    throw new Refused('there is no redis-server; on Debian: apt-get install redis-server');
  const port = await freePort();
  ensureResults();
  const folder = mkdtempSync(join(resultsFolder, 'redis-'));
  const args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  args.push('--appendonly', 'yes', '--appendfsync', appendfsync);
  const server = spawn(command, args.map(String), { stdio: 'ignore' });
  const exited = once(server, 'exit');
  endWithThis(server);
  const failed = exited.then(([code]) => {
    throw new Refused(`redis-server ended with ${code} before it listened`);
  });
  failed.catch(() => {});
  await Promise.race([listening(port), failed]);
  return {
    ...{ port, pid: server.pid },
    async stop() {
      server.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
