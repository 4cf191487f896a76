/**
 * Required first, in each thread: every timer takes 20 times as long. Some of piscina's tests go by which of two threads is 5 ms
 * ahead of the other; on a busy machine a thread may have to wait longer than that for a CPU, but hardly for 100 ms.
 */
const timers = require('node:timers');
const { promisify } = require('node:util');

/** Timers of Node.js know no longer time. */
const most = 2 ** 31 - 1;

for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name];
  const slow = (callback, ms = 1, ...args) => real(callback, Math.min(20 * ms, most), ...args);
  if (name === 'setTimeout') {
    const { [promisify.custom]: pause } = real;
    slow[promisify.custom] = (ms = 1, ...rest) => pause(Math.min(20 * ms, most), ...rest);
  }
  globalThis[name] = slow;
  timers[name] = slow;
}
