/**
 * The timers, queues and clocks of Node.js as they were when this module was first loaded, so that the fake timers of a test
 * reach no feature. Every other file takes them from here; the linter forbids the globals. It is CommonJS, so that
 * millrace/auto can load it before there may be any fake ones.
 */
import { builtin } from './realm.cjs';

const { performance: nodePerformance } = builtin('node:perf_hooks');
const timers = builtin('node:timers');

// Not from the globals: a test runner that gives each file globals of its own may have replaced them already.
export const { setImmediate, clearImmediate, setTimeout, clearTimeout } = timers;
export const { setInterval, clearInterval } = timers;
export const { queueMicrotask } = globalThis;
export const { nextTick } = process;
export const hrtime = process.hrtime.bigint;

/** The time of day, in ms since 1970. */
export const wallClock = { now: Date.now };

/** Bound: fake timers replace methods of the object. */
export const performance = {
  now: nodePerformance.now.bind(nodePerformance),
  /** Utilization of the loop, which not every runtime has. */
  eventLoopUtilization: nodePerformance.eventLoopUtilization?.bind(nodePerformance),
  nodeTiming: nodePerformance.nodeTiming,
};

/** Resolves after `ms`. Without `ref` it keeps no process alive. */
export const sleep = (ms: number, { ref = true } = {}): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });

/** The value of the promise, which must not reject; null if it takes longer than `ms`. */
export function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
