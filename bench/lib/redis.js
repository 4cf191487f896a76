/** Runs a redis-server for this run alone, on this machine alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/lab/run/up.js';
import { find } from '../../scripts/debian.js';
import { listening } from './listening.js';
import { Refused } from './refused.js';
import { ensureResults } from './results.js';

/**
 * Starts the server.
 *
 * @param {'no' | 'everysec'} [appendfsync] sync policy of its append-only file; default: no file
 * @returns {Promise<{ port: number, pid: number, stop(): Promise<void> }>}
 */
export async function startRedis(appendfsync) {
  const command = find('redis-server');
  if (!command)
    throw new Refused('there is no redis-server; on Debian: apt-get install redis-server');
  const port = await freePort();
  const folder = mkdtempSync(join(ensureResults(), 'redis-'));
  const file = appendfsync ? ['yes', '--appendfsync', appendfsync] : ['no'];
  const args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const server = spawn(command, [...args, '--appendonly', ...file].map(String), {
    stdio: 'ignore',
  });
  const exited = once(server, 'exit');
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const failed = exited.then(([code]) => {
    throw new Refused(`redis-server ended with ${code} before it listened`);
  });
  failed.catch(() => {});
  await Promise.race([listening(port), failed]);
  return {
    ...{ port, pid: server.pid },
    async stop() {
      kill();
      await exited;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
