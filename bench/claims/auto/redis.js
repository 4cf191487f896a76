import { spawn } from 'node:child_process';
import { LabError } from '@millrace/lab/experiment';
import { find } from '../../../scripts/debian.js';

/** Shell command whose program ends with the owner of the other end of its stdin. */
const TIED = '"$@" >/dev/null 2>&1 & cat >/dev/null; kill $!';

let isStarted = false;

/**
 * Starts a redis-server, once, that keeps nothing and ends with this process, which it does not keep alive. It is no child
 * of the server that is measured: its CPU time is not in the figures.
 *
 * @param {number} port that is free; clients try again until it listens
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when there is none on this machine
 */
export function startRedis(port) {
  if (isStarted) return;
  const command = find('redis-server');
  if (command === undefined) {
    throw new LabError(
      'MILLRACE_LAB_E_SERVER',
      'redis-server is not on this machine; install the Debian package redis-server',
    );
  }
  const options = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--appendonly', 'no'];
  const child = spawn('sh', ['-c', TIED, 'sh', command, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  child.stdin.unref();
  isStarted = true;
}
