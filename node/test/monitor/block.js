/** What the tests of the monitor share. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';

/** Keeps the loop from going on for that many ms, whatever the time of day says. */
export function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** For `assert.throws`: a MillraceError of that code whose message has all the words. */
export const refusal =
  (...words) =>
  (error) => {
    const missing = words.filter((word) => !error.message.includes(word));
    if (error.name !== 'MillraceError' || error.code !== 'MILLRACE_E_INVALID_OPTION') return false;
    if (missing.length > 0) throw new Error(`no ${missing.join(', no ')} in: ${error.message}`);
    return true;
  };

/**
 * What `promise` resolves with, unless the loop sleeps on until a process has ended, some 20 s later. That is I/O, so that it
 * comes before the check phase, in which a monitor would look anyway. Keeps this process alive meanwhile.
 */
export async function soon(promise) {
  const sleeper = spawn('sleep', ['20']);
  const end = once(sleeper.stdout.resume(), 'end').then(() => {
    throw new Error('the loop slept on');
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    sleeper.kill();
  }
}
