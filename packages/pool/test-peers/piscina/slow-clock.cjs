/**
 * Required first, in each thread: every timer takes 20 times as long. Some of piscina's tests go by which of two threads is 5 ms
 * ahead of the other; on a busy machine a thread may have to wait longer than that for a CPU, but hardly for 100 ms.
 */
const timers = require('node:timers');
const { promisify } = require('node:util');

for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name];
  const slow = (callback, ms = 1, ...args) => real(callback, 20 * ms, ...args);
  if (name === 'setTimeout') {
    slow[promisify.custom] = (ms = 1, ...rest) => real[promisify.custom](20 * ms, ...rest);
  }
  globalThis[name] = slow;
  timers[name] = slow;
}
