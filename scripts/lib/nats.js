import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LabError } from '../../packages/lab/load/errors.js';
import { freePort, untilUp } from '../../packages/lab/run/up.js';
import { find } from '../debian.js';

const START_MS = 10_000;

/**
 * A nats-server of the caller's own, on a port of this machine that it keeps when it is killed and started again.
 *
 * @returns {Promise<{ url: string, port: number, pid: number, start(): Promise<void>, kill(): Promise<void> }>} `kill` is SIGKILL
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` where none is installed
 */
export async function startNats() {
  const command = find('nats-server');
  if (!command) {
    throw new LabError(
      'MILLRACE_LAB_E_SERVER',
      'there is no nats-server; on Debian: apt-get install nats-server',
    );
  }
  const port = await freePort();
  let child;
  let exited;
  const server = {
    ...{ port, url: `nats://127.0.0.1:${port}` },
    get pid() {
      return child.pid;
    },
    async start() {
      child = spawn(command, ['-a', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' });
      exited = once(child, 'exit');
      await untilUp(`ws://127.0.0.1:${port}`, undefined, true, AbortSignal.timeout(START_MS));
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  await server.start();
  return server;
}
