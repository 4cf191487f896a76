/**
 * The queues, timers and clock of Node.js as they were when this module was first loaded, so that the fake timers of a test
 * do not reach what sockets, files, batches, guards, pools and processes wait for. It is CommonJS, so that millrace/auto can
 * load it before there may be any.
 */
export const { setImmediate, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
export const { queueMicrotask } = globalThis;
export const { nextTick } = process;

/** Bound: fake timers replace methods of the object. */
export const performance = { now: globalThis.performance.now.bind(globalThis.performance) };
