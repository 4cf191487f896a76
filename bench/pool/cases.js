/** What is measured. Tasks of a number of µs are a fixed amount of work, not a wait for the clock. */

/** Worker threads of every subject. */
export const workers = 2;

/**
 * - `task`: the function that runs; `us`: what one run of `spin` takes when it has a core to itself.
 * - `deep`: how many are handed in at once, again and again; `inFlight`: how many calls are under way, each followed by its next.
 * - `warmup`: s; calls of little work need many until they are compiled.
 * - `beside`: of many at once, the case of a load that leaves time, without which no short table shows it.
 * - `target`: the least that `ahead` has to be for tasks per second, against piscina.
 */
export const rates = {
  'no-op deep': { task: 'noop', deep: 10_000, warmup: 0.5, target: 20 },
  '10us deep': {
    ...{ task: 'spin', us: 10, deep: 10_000, warmup: 0.5, target: 4.5 },
    beside: '100us among 50ms',
  },
  '100us deep': { task: 'spin', us: 100, deep: 2000, warmup: 0.2, target: 1.5 },
  // A thread works for as long as it takes in either: no worse is what can be told.
  '1ms deep': { task: 'spin', us: 1000, deep: 400, warmup: 0.2, target: 0.95 },
  '20ms deep': { task: 'spin', us: 20_000, deep: 40, warmup: 0.2, target: 0.95 },
  'no-op single': { task: 'noop', inFlight: 1, warmup: 0.5, target: 0.95 },
  ...Object.fromEntries(
    [8, 32, 128].map((inFlight) => [
      `no-op ${inFlight} in flight`,
      { task: 'noop', inFlight, warmup: 0.5 },
    ]),
  ),
};

/** Tasks of two kinds arrive at times that do not depend on the answers: this many of each a second. */
export const mixed = {
  title: '100us among 50ms',
  short: { us: 100, perSecond: 3000 },
  long: { us: 50_000, perSecond: 8 },
  target: 1.3,
};

const MB = 2 ** 20;

/** Bytes go to a worker, which changes one of them, and come back. One call for each worker is under way. */
export const payloads = Object.fromEntries(
  [1, 16].flatMap((size) =>
    ['cloned', 'transferred'].map((how) => [
      `${size}MB ${how}`,
      { bytes: size * MB, transferred: how === 'transferred', target: 0.95 },
    ]),
  ),
);

/** Memory of a worker: that of a process with this many of them, less that of one with one. */
export const crowd = 5;

/** A server is asked for its health this many times a second while it computes the Fibonacci number `n`, having computed the `first`. */
export const health = {
  title: '/health during fib(1,000,000)',
  n: 1_000_000,
  first: 20_000,
  perSecond: 200,
  /** The p99 meanwhile has to be at most this many times that of the same server when idle. */
  bound: 3,
};

/** Processes of a cluster are killed, first when nobody asks for anything, then one while requests, each a task of its pool, are under way. */
export const replacement = {
  title: 'replacement after kill -9',
  processes: 2,
  kills: 3,
  connections: 16,
  taskUs: 2000,
  /** Until another process listens: this many times what a bare server takes to start. */
  bound: 2,
};
