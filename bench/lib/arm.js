/** An arm in a process of its own: what one arm taught the compiler must not help or hurt another. */
import { fork } from 'node:child_process';

/**
 * Runs a module that answers with one message, `process.send(sample)`.
 *
 * @param {string | URL} module
 * @param {string[]} args
 * @returns {Promise<any>} the sample
 */
export function runArm(module, args) {
  return new Promise((resolve, reject) => {
    const child = fork(module, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let sample;
    child.once('message', (message) => {
      sample = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0 && sample !== undefined) resolve(sample);
      else
        reject(new Error(`the arm ${args.join(' ')} ended with ${signal ?? code} and no sample`));
    });
  });
}
