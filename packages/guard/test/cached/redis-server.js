/** A redis-server of a test's own, on a socket file in a temporary folder; it keeps nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Redis from 'ioredis';
import { find } from '../../../../scripts/debian.js';

export const command = find('redis-server');

/** Starts one, which is ended with the test, as are the clients of it. */
export async function startRedis(t) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-redis-'));
  const path = join(folder, 'socket');
  const clients = [];
  let server = await start();

  async function start() {
    const args = ['--port', '0', '--unixsocket', path, '--dir', folder];
    args.push('--save', '', '--appendonly', 'no');
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = createInterface(child.stdout);
    // Left open: a server that nobody listens to any more would end.
    await new Promise((resolve, reject) => {
      lines.on('line', (line) => /ready to accept connections/i.test(line) && resolve());
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    });
    return child;
  }

  async function stop() {
    const { exitCode, signalCode } = server;
    if (exitCode !== null || signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGCONT');
    server.kill();
    await exited;
  }

  t.after(async () => {
    for (const client of clients) client.disconnect();
    await stop();
    await rm(folder, { recursive: true });
  });
  return {
    stop,
    restart: async () => {
      server = await start();
    },
    kill: (signal) => server.kill(signal),
    /** A client, as each process has one. */
    connect: (options) => {
      const client = new Redis(path, options);
      // It tells of each attempt to connect that fails.
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
  };
}
