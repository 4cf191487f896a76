import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Starts a program for a test, which ends it. It should keep its stdin open, and say something on stdout when it has come
 * to where the test waits.
 *
 * @param {import('node:test').TestContext} t
 * @param {string[]} args of Node.js, or of `command`
 * @param {object} [options]
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {string} [options.command]
 */
export function start(t, args, { env, command = process.execPath } = {}) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  // Not 'close': what it has started may go on to hold its stdout.
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    /** Its next line. */
    says: async () => (await lines.next()).value,
    /** Writes a line to it, and resolves with its answer. */
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return (await lines.next()).value;
    },
  };
}

/** Source that runs `step` for each line of stdin, and says when it is done. */
export const steps = (step) =>
  `require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
    ${step}
    console.log('done');
  });
  console.log('up');`;

/** Source that uses a fifth of a second of CPU time, nearly all of it outside the kernel. */
export const BURN = `const from = process.cpuUsage().user;
  while (process.cpuUsage().user < from + 200_000) for (let i = 0; i < 1e6; i += 1);`;
