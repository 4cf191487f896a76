/** Functions that behave well, and some that do not. */
import { parentPort, workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from '@millrace/pool';

export default (task) => task;

/** Counts, by its number, how often a task has begun. */
function begun(n) {
  if (n !== undefined) Atomics.add(workerData.runs, n, 1);
}

export function count(n) {
  begun(n);
  return n;
}

/** Ends its worker, one way or another, unless `how` is null. */
export function crash({ n, how = null }) {
  begun(n);
  return how === null ? n : crashes[how]();
}

const never = () => new Promise(() => {});

const crashes = {
  exit: () => process.exit(7),
  timer() {
    setTimeout(() => {
      throw new Error('thrown by a timer');
    }, 0);
    return never();
  },
  rejection() {
    Promise.reject(new Error('nobody handles it'));
    return never();
  },
  heap() {
    const kept = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length));
  },
};

/** Ends its worker the first time. */
export function crashOnce({ n }, { attempt }) {
  begun(n);
  if (attempt === 0) process.exit(7);
  return attempt;
}

/** Says that it runs, and runs until the main thread opens the gate. */
export function hold(n) {
  begun(n);
  const { gate } = workerData;
  parentPort.postMessage('holds');
  Atomics.wait(gate, 0, 0);
  return n;
}

export async function wait(ms) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return ms;
}

/** How many run at a time, at most. */
export async function beside(ms) {
  const { runs } = workerData;
  const now = Atomics.add(runs, 0, 1) + 1;
  if (now > runs[1]) runs[1] = now;
  await new Promise((resolve) => setTimeout(resolve, ms));
  Atomics.sub(runs, 0, 1);
}

export function loop() {
  parentPort.postMessage('holds');
  for (;;);
}

export const pending = never;

/** Ends once it is told to. */
export function listening(n, context) {
  while (!context.aborted) {
    if (n !== null) parentPort.postMessage('holds');
    n = null;
  }
  return n;
}

export function busy(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
}

export function overflow() {
  return overflow() + 1;
}

export function deep(levels) {
  let value = null;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

export const large = (bytes) => new Uint8Array(bytes).fill(1);

const trap = () => {
  throw new Error('trapped');
};
const trapped = () => new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap });
const withGetter = (target, key) =>
  Object.defineProperty(target, key, { enumerable: true, get: trap });

const results = {
  'a function': () => () => {},
  'a symbol': () => Symbol('s'),
  'a weak map': () => new WeakMap(),
  'a promise in an object': () => ({ promise: Promise.resolve() }),
  'a getter that throws': () => withGetter({}, 'value'),
  'a proxy that throws': trapped,
  'a promise of a proxy that throws': async () => {
    const thenless = { get: (_, key) => (key === 'then' ? undefined : trap()) };
    return [new Proxy({}, thenless)].map((each) => each)[0];
  },
  'a transferable that throws': () => {
    return move(withGetter({ [transferableSymbol]: {} }, valueSymbol));
  },
};

/** Cannot be told to the main thread. */
export const unclonable = (what) => results[what]();

const thrown = {
  'an error with a getter that throws': () => withGetter(new Error('boom'), 'details'),
  'an error with a function': () => new Error('boom', { cause: () => {} }),
  'an object without prototype': () => Object.assign(Object.create(null), { boom() {} }),
  'a proxy that throws': trapped,
  'a function': () => function boom() {},
};

export function throws(what) {
  throw thrown[what]();
}

export async function rejects(what) {
  throw thrown[what]();
}

const thenables = {
  throws: () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    then() {
      throw new Error('no promise');
    },
  }),
  'calls back twice': () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    then(resolve, reject) {
      resolve(1);
      resolve(2);
      reject(new Error('late'));
    },
  }),
  'has a getter that throws': () => withGetter({}, 'then'),
};

export const thenable = (what) => thenables[what]();

const sabotage = {
  'closes parentPort': () => parentPort.close(),
  'removes the listeners of parentPort': () => parentPort.removeAllListeners(),
  'removes the listeners of the process': () => process.removeAllListeners(),
  'posts what nobody asked for': () => parentPort.postMessage({ unasked: true }),
  'posts what cannot be cloned': () => parentPort.postMessage(() => {}),
  'sets an exit code': () => {
    process.exitCode = 9;
  },
};

export function sabotages(what) {
  sabotage[what]();
  return what;
}
