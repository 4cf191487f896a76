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

/** Unlike {@link block} it makes no garbage, whose collection would be told of and so wake the loop. */
export function blockAsleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A process that ends after 20 s, a second after it got a byte, when it is killed, and when the one that made it ends. */
export const sleeper = () =>
  spawn(process.execPath, [
    '--eval',
    `setTimeout(process.exit, 20_000);
    process.stdin.once('data', () => setTimeout(process.exit, 1000)).on('end', process.exit);`,
  ]);

/**
 * What the promise of `begin` resolves with, unless the loop sleeps on until a {@link sleeper} has ended. That is I/O, so that
 * it comes before the check phase, in which a monitor would look anyway. `begin` gets a function to call before the block, so
 * that the second does not begin sooner, and hardly anything else can wake the loop. Keeps this process alive meanwhile.
 */
export async function soon(begin) {
  const child = sleeper();
  // It may be killed before it has read the byte.
  child.stdin.on('error', () => {});
  const end = once(child.stdout.resume(), 'end').then(() => {
    throw new Error('the loop slept on');
  });
  try {
    return await Promise.race([begin(() => child.stdin.write('.')), end]);
  } finally {
    child.kill();
  }
}
