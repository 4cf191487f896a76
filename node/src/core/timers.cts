/**
 * The queues of Node.js as they were when this module was first loaded, so that the fake timers of a test do not reach
 * what sockets and files wait for. It is CommonJS, so that millrace/auto can load it before there may be any.
 */
export const { setImmediate, queueMicrotask } = globalThis;
export const { nextTick } = process;
