import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.js';

const GRACE_MS = 5_000;
const PIPES_MS = 1_000;
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** Children still running, each the leader of a process group of its own. */
const running = new Set();

/** Set by a signal: from then on no caller of `run` goes on, and the process exits. */
let stopping = false;
const never = new Promise(() => {});

/**
 * Runs a command to its end. The command leads its own process group, so that stopping it stops
 * what it started as well.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options] those of `child_process.spawn`, and:
 * @param {number} [options.timeoutMs] the group is stopped after this time
 * @param {(child: import('node:child_process').ChildProcess) => void} [options.onStart]
 *   called once with the child, for instance to read its output
 * @returns {Promise<void>} rejects with a `Failure` unless the command exits with code 0
 */
export async function run(command, args, { timeoutMs, onStart, ...options } = {}) {
  if (stopping) await never;
  const child = spawn(command, args, { stdio: 'inherit', ...options, detached: true });
  running.add(child);
  let timedOut = false;
  const timer =
    timeoutMs &&
    setTimeout(() => {
      timedOut = true;
      stop(child);
    }, timeoutMs);
  try {
    onStart?.(child);
    const closed = new Promise((resolve) => child.once('close', resolve));
    const [code, signal] = await once(child, 'exit');
    // Its pipes stay open for as long as a process that it left behind holds them.
    await Promise.race([closed, sleep(PIPES_MS, undefined, { ref: false })]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    if (stopping) await never;
    if (timedOut) throw new Failure(`${command} was stopped after ${timeoutMs / 1000} s`);
    if (signal) throw new Failure(`${command} was ended by ${signal}`);
    if (code !== 0) throw new Failure(`${command} exited with code ${code}`);
  } catch (error) {
    if (error.code === 'ENOENT') throw new Failure(`${command} was not found`);
    throw error;
  } finally {
    clearTimeout(timer);
    running.delete(child);
  }
}

function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
    return true;
  } catch {
    return false; // the whole group has ended
  }
}

/** Asks the group to end, waits, then ends it. */
async function stop(child, signal = 'SIGTERM') {
  const deadline = Date.now() + GRACE_MS;
  signalGroup(child, signal);
  while (Date.now() < deadline && signalGroup(child, 0)) await sleep(50);
  signalGroup(child, 'SIGKILL');
}

for (const [signal, exitCode] of Object.entries(EXIT_CODES)) {
  process.once(signal, async () => {
    stopping = true;
    await Promise.all([...running].map((child) => stop(child, signal)));
    process.exit(exitCode);
  });
}
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});
