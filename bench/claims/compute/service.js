/** The service of examples/compute, its two arms, and what is asked of it. */
import { fileURLToPath } from 'node:url';
import { limits } from '@millrace/monitor';

const MAIN = fileURLToPath(new URL('../../../examples/compute/main.js', import.meta.url));
const FIBONACCI_END = 10n ** 20n;

/** Numbers with this many digits in an answer say how long it took. */
const bytesTolerance = 0.15;

/** Cores of this machine, or what a quota leaves, as whole threads. */
export const CORES = Math.max(1, Math.floor(limits().cpus));

/** @param {string[]} args of the service */
export const command = (...args) => [process.execPath, MAIN, '--port', '0', ...args];

/** Paths of what the service does on the main thread. */
const ON_MAIN_THREAD = {
  '/fibonacci': '/fibonacci-single',
  // The same way of computing it as with threads, so that nothing but the threads differs.
  '/rsa-fibonacci-multithreaded': '/rsa-fibonacci?method=crt',
  '/records': '/records-single',
};

/**
 * Including the paper's largest, for which the service refuses to block unless it is told to. The number of threads is fixed: without
 * one the pool uses fewer while other programs use the cores, as the generator of the load does.
 */
const service = {
  command: command('--threads', `${CORES}`, '--blocking-n', '3000000'),
  env: { NODE_ENV: 'production' },
};

/** Reports whether tasks ran on threads: each says `main`, `worker` or `workers`. */
const onThreads = ({ answers }) =>
  answers
    .map(({ json }) => json?.thread)
    .filter((thread) => thread !== undefined)
    .map((thread) => thread !== 'main');

/** Tasks on the main thread, as in a server that knows no threads. */
export const control = {
  ...service,
  name: 'main thread',
  routes: ON_MAIN_THREAD,
  isOn: (run) => onThreads(run).some((isOn) => isOn),
};

/** Tasks in the pool: all of them. */
export const treatment = {
  ...service,
  name: 'pool',
  isOn: (run) => onThreads(run).length > 0 && onThreads(run).every((isOn) => isOn),
};

/** F(n), checked by its last digits. */
export const fibonacci = (n, { algorithm = 'paper', ...more } = {}) => ({
  name: 'fibonacci',
  path: `/fibonacci?n=${n}&algorithm=${algorithm}`,
  timed: true,
  bytesTolerance,
  payload: ({ digits, first, last, sha256 }) => [digits, first, last, sha256],
  check: ({ last }) => BigInt(last) === endOfFibonacci(n),
  ...more,
});

/** A power of F(n) modulo another Fibonacci number; most of it is the computation of these by additions. */
export const rsa = (n, { algorithm = 'paper', ...more } = {}) => ({
  name: 'rsa',
  path: `/rsa-fibonacci-multithreaded?n=${n}&algorithm=${algorithm}`,
  timed: true,
  bytesTolerance: 0.3,
  payload: ({ modulus, exponent, digits, first, last, sha256 }) => [
    ...[modulus, exponent],
    ...[digits, first, last, sha256],
  ],
  ...more,
});

export const records = (count, more) => ({
  name: 'records',
  path: `/records?count=${count}`,
  timed: true,
  bytesTolerance: 0.7,
  payload: ({ records: made, bytes, cents, crc32 }) => [made, bytes, cents, crc32],
  check: ({ records: made }) => made === count,
  ...more,
});

/** A call of another service: waiting, and next to no work. */
export const photos = (more) => ({
  name: 'photos',
  path: '/fetch-photos',
  bytesTolerance,
  payload: ({ photos: count, first }) => [count, first],
  check: ({ photos: count }) => count > 0,
  ...more,
});

export const health = (more) => ({
  name: 'health',
  path: '/health',
  // While threads work, it lists their tasks.
  bytesTolerance: 0.5,
  payload: ({ status }) => status,
  check: ({ status }) => status === 'ok',
  ...more,
});

/**
 * CPU time of a task, s, about: additions of numbers that grow cost the square of n. For plans.
 *
 * @param {{ fibonacci?: number, rsa?: number, records?: number }} sizes
 */
export const cpuSecondsOf = ({ fibonacci: n = 0, rsa: m = 0, records: count = 0 }) =>
  7.6 * (n / 1e6) ** 2 + 12.6 * (m / 1e6) ** 2 + 2 * (count / 1e6);

/** Something of each, several at a time, so that threads are there and code is compiled. */
export const warmup = () => [
  fibonacci(2000),
  fibonacci(2000),
  rsa(2000, { at: 20 }),
  records(1000, { at: 40 }),
  photos({ at: 60, rate: 50, seconds: 0.1 }),
  health({ at: 60, rate: 100, seconds: 0.2 }),
];

/** F(n) modulo 10^20, by doubling: its last digits, found in another way than the service's. */
export function endOfFibonacci(n) {
  let [a, b] = [0n, 1n];
  for (const digit of n.toString(2)) {
    const [even, odd] = [a * (2n * b - a), a * a + b * b];
    [a, b] = digit === '0' ? [even, odd] : [odd, even + odd];
    a %= FIBONACCI_END;
    b %= FIBONACCI_END;
  }
  return ((a % FIBONACCI_END) + FIBONACCI_END) % FIBONACCI_END;
}
