/**
 * Required first in a worker: its clock stands still, so that its tasks are measured as short ones, however often the system
 * interrupts them. `globalThis.passMs(ms)` moves it on.
 */
const { performance } = require('node:perf_hooks');

let nowMs = 0;
performance.now = () => nowMs;
globalThis.passMs = (ms) => {
  nowMs += ms;
};
