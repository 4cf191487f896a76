/** Names of `timers.cts` for ES modules: `schema.cts` of this folder says why. */
import timers = require('../timers.cjs');

export const {
  clearImmediate,
  clearInterval,
  clearTimeout,
  hrtime,
  nextTick,
  performance,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
  sleep,
  wallClock,
  within,
} = timers;
