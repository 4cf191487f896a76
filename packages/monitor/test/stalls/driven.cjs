/**
 * The watchdog in a thread whose clocks the test drives. A message `{ passMs, jumpMs, isLook }` moves the monotonic clock forward, and the time
 * of day by `jumpMs` more; then comes the next look, unless `isLook` is false. Each message is answered when all that is done.
 */
const { parentPort } = require('node:worker_threads');
const timers = require('@millrace/base/timers');

let nowMs = 1e6;
let dayMs = 1e12;
let look = null;
timers.performance.now = () => nowMs;
timers.wallClock.now = () => dayMs;
timers.setTimeout = (callback) => {
  look = callback;
};
// Only now, so that it gets the clocks that are driven.
require('../../dist/stalls/watchdog.cjs');

parentPort.on('message', ({ passMs, jumpMs, isLook }) => {
  nowMs += passMs;
  dayMs += passMs + jumpMs;
  if (isLook) look();
  parentPort.postMessage({ dayMs });
});
