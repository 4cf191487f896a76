/** Programs that are asked questions over their channel, and end with whoever started them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * The command of a program of Node.js.
 *
 * @param {URL} program
 * @param {(string | number)[]} [args]
 * @param {string[]} [flags] of Node.js
 */
export const commandOf = (program, args = [], flags = []) => [
  ...[process.execPath, ...flags, fileURLToPath(program)],
  ...args.map(String),
];

/**
 * Starts a program, and resolves when it has sent its first message.
 *
 * @param {string[]} command
 * @param {object} [options]
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {'inherit' | 'ignore'} [options.output]
 * @returns {Promise<Child>} `died` rejects when it ends, also by `stop`
 *
 * @typedef {object} Child
 * @property {number} pid
 * @property {any} first message
 * @property {import('node:child_process').ChildProcess} process
 * @property {Promise<never>} died
 * @property {(question: any) => Promise<any>} ask
 * @property {() => Promise<void>} stop
 */
export async function startChild([file, ...args], { env, output = 'inherit' } = {}) {
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  const died = ended.then((how) => {
    throw new Error(`${[file, ...args].join(' ')} ended with ${how} while measured`);
  });
  died.catch(() => {});
  const answer = async () => (await Promise.race([once(child, 'message'), died]))[0];
  return {
    pid: child.pid,
    first: await answer(),
    process: child,
    died,
    ask(question) {
      child.send(question);
      return answer();
    },
    // An overloaded process would not react to a gentler signal for a while.
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
