/** Functions that the tests of the pool run. */
import { parentPort, threadId } from 'node:worker_threads';
import { move } from '@millrace/pool';

export default (task) => task;

/** Says that it runs, and waits for its gate, if it has them; and counts its runs, and writes its number to a log. */
export function hold({ say, gate, runs, log, n = 0 } = {}) {
  if (runs) Atomics.add(runs, n, 1);
  if (log) log[1 + Atomics.add(log, 0, 1)] = n;
  if (say) parentPort.postMessage(say);
  if (gate) Atomics.wait(gate, 0, 0);
  return n;
}

/** The same, under another name: the pool knows nothing of how long it takes. */
export const task = (options) => hold(options);
export const other = (options) => hold(options);

/** The same, with others beside it while it waits. */
export async function holdBeside({ gate, ...options } = {}) {
  hold(options);
  while (gate && Atomics.load(gate, 0) === 0)
    await new Promise((resolve) => setTimeout(resolve, 1));
  return options.n ?? 0;
}

/** Does not hear anything. */
export function loop({ say, runs, n = 0 } = {}) {
  if (runs) Atomics.add(runs, n, 1);
  if (say) parentPort.postMessage(say);
  for (;;);
}

/** Short, unless it is told to loop or to wait. */
export function loopIf({ loops, ...options } = {}) {
  return loops ? loop(options) : hold(options);
}

export const asyncIf = async ({ loops, ...options } = {}) =>
  loops ? loop(options) : holdBeside(options);

/** Ends when it is told to, but not before its gate is open. */
export function listen({ say, gate, n = 0 } = {}, context = {}) {
  if (say) {
    if (context.aborted) return 'too early';
    parentPort.postMessage(say);
    while (!context.aborted);
    if (gate) Atomics.wait(gate, 0, 0);
  }
  return n;
}

/** Waits for its signal. */
export function signalled({ say }, { signal }) {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    parentPort.postMessage(say);
  });
}

/** Asks for its signal, and does not mind it. */
export function deaf({ say }, { aborted }) {
  parentPort.postMessage(aborted ? 'too early' : say);
  for (;;);
}

export const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Takes so long by the clock of a worker that stands still otherwise: see still-clock.cjs. */
export function lasts({ ms = 0, ...options } = {}) {
  hold(options);
  globalThis.passMs(ms);
  return options.n ?? 0;
}

/** Computes. */
export function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
}

export const where = () => threadId;

/** What a function is told beside its task; ends its worker so many times before. */
export function attempt({ deaths = 0, runs, n = 0 } = {}, context) {
  if (runs) Atomics.add(runs, n, 1);
  if (context.attempt < deaths) process.exit(3);
  return context.attempt;
}

const thenable = {
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  then(resolve) {
    resolve('from a thenable');
  },
};

const results = {
  undefined: () => undefined,
  null: () => null,
  'a promise': async () => 'later',
  'a promise of a promise': () => Promise.resolve(Promise.resolve('much later')),
  'a thenable': () => thenable,
  'a bigint': () => 2n ** 200n,
  'a map': () => new Map([[1, new Set([NaN, -0])]]),
  'a date': () => new Date(5),
  'an error': () => new RangeError('not thrown'),
  'a moved buffer': () => move(new Uint8Array([1, 2, 3]).buffer),
  'a moved view': () => move(new Float64Array([0.5])),
  'a promise of a moved buffer': async () => move(new Uint8Array([4]).buffer),
  'a function': () => () => {},
  'a symbol': async () => Symbol('s'),
  'an object with a function': () => ({ ok: 1, not() {} }),
};

export const give = (what) => results[what]();

class QuotaError extends Error {
  name = 'QuotaError';
  code = 'E_QUOTA';
  limit = 7;
}

const thrown = {
  'an error': () => new TypeError('plain'),
  'an error with properties': () => new QuotaError('too much', { cause: new Error('deep') }),
  'an error with what cannot be cloned': () =>
    Object.assign(new Error('odd'), { code: 'E_ODD', fn() {} }),
  'a DOMException': () => new DOMException('gone', 'AbortError'),
  'a text': () => 'only a text',
  undefined: () => undefined,
  null: () => null,
  'an object': () => ({ code: 9 }),
};

export function fail(what) {
  throw thrown[what]();
}

export async function failLater(what) {
  await null;
  throw thrown[what]();
}

/** One or the other, so that both are in one batch. */
export const giveOrFail = ({ gives, fails }) => (fails === undefined ? give(gives) : fail(fails));

export const bytesOf = (buffer) => (buffer instanceof ArrayBuffer ? buffer.byteLength : -1);

export function reply({ port, value }) {
  port.postMessage(value);
  port.close();
}

/** Prints, or loops. */
export function printIf({ prints, ...options } = {}) {
  if (prints) console.log('# printed by a task');
  return loopIf(options);
}

export const print = (n) => console.log(`printed ${n}`);

export function endOutput(n) {
  if (n === 1) {
    process.stdout.on('error', () => {});
    process.stdout.write('# the last that is printed\n');
    process.stdout.end();
  }
  return n;
}
