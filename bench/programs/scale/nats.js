/** A nats-server of this run's own: it listens on this machine alone, and may be killed and started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../packages/lab/run/up.js';
import { find } from '../../../scripts/debian.js';
import { listening } from '../../lib/listening.js';
import { Refused } from '../../lib/refused.js';
import { ensureResults, resultsFolder } from '../../lib/results.js';

/**
 * Starts a server. Its streams are beside the results: on a disk, not in memory.
 *
 * @returns {Promise<{ url: string, pid: number, kill(): Promise<void>, start(): Promise<void>, stop(): Promise<void> }>} `kill` is
 *   SIGKILL and keeps the streams, `start` is for after it, `stop` removes everything
 */
export async function startNats() {
  const command = find('nats-server');
  if (!command)
    throw new Refused('there is no nats-server; on Debian: apt-get install nats-server');
  const port = await freePort();
  ensureResults();
  const folder = mkdtempSync(join(resultsFolder, 'nats-'));
  const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder];
  let server;
  let exited;
  const start = async () => {
    server = spawn(command, args, { stdio: 'ignore' });
    exited = once(server, 'exit');
    // It is taken along when this process ends before it has stopped it.
    const end = server.kill.bind(server, 'SIGKILL');
    process.once('exit', end);
    server.once('exit', () => process.off('exit', end));
    await Promise.race([listening(port), failed(exited)]);
  };
  const kill = async () => {
    server.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    ...{ kill, start },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function failed(exited) {
  const [code] = await exited;
  throw new Refused(`nats-server ended with ${code} before it listened`);
}
