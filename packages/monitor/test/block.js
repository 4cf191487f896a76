/** What the tests of the monitor share. */
import { spawn } from 'node:child_process';
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

/**
 * Tells, by a line with the last number that it has read, when the process that made it has slept on for a second since. A thread that
 * waits for a CPU does not sleep: on Linux the main thread has to be asleep at ten looks in a row, and never awake in between.
 */
const observer = `
  const { readFileSync } = require('node:fs');
  const folder = '/proc/' + process.ppid;
  let asked = '0';
  let last = '';
  let looks = 0;
  function state() {
    try {
      const [, letter] = /\\) (\\w) /.exec(readFileSync(folder + '/stat', 'latin1'));
      const status = readFileSync(folder + '/status', 'latin1');
      return letter + /^voluntary_ctxt_switches:\\s+(\\d+)/m.exec(status)[1];
    } catch {
      return 'S';
    }
  }
  process.stdin.setEncoding('latin1').on('end', process.exit).on('data', (text) => {
    asked = text.trim().split('\\n').at(-1);
    looks = 0;
  });
  setInterval(() => {
    if (asked === '0') return;
    const now = state();
    looks = now === last && now.startsWith('S') ? looks + 1 : 0;
    last = now;
    if (looks < 10) return;
    process.stdout.write(asked + '\\n');
    asked = '0';
  }, 100);`;

let child = null;
let count = 0;
let onSlept = () => {};

/** Observer, started once, which keeps this process alive only while `soon` waits. */
function startObserver() {
  child = spawn(process.execPath, ['--eval', observer], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  child.stdout.setEncoding('latin1').on('data', (text) => {
    for (const number of text.trim().split('\n')) onSlept(Number(number));
  });
  child.unref();
  child.stdin.unref();
}

/**
 * Resolves as the promise of `begin` does, unless the loop sleeps on for a second. That comes as I/O, before the check phase, in which a
 * monitor would look anyway. `begin` gets a function to call before the block, so that the second does not begin sooner. Keeps this process
 * alive meanwhile. One at a time.
 */
export async function soon(begin) {
  if (child === null) startObserver();
  child.stdout.ref();
  const ask = () => child.stdin.write(`${++count}\n`);
  const sleptOn = new Promise((_, reject) => {
    onSlept = (number) => {
      if (number === count) reject(new Error('the loop slept on'));
    };
  });
  ask();
  try {
    return await Promise.race([begin(ask), sleptOn]);
  } finally {
    onSlept = () => {};
    child.stdin.write('0\n');
    child.stdout.unref();
  }
}
