/** The work of each case. Tasks of a number of µs are a fixed amount of work, not a wait for the clock. */

/** Worker threads of every subject. */
export const workers = 2;

/**
 * - `task`: the function that runs; `us`: what one run of `spin` takes when it has a core to itself.
 * - `deep`: how many are handed in at once, again and again; `inFlight`: how many calls are under way, each followed by its next.
 * - `warmup`: s; calls of little work need many until they are compiled.
 */
export const rates = {
  'no-op deep': { task: 'noop', deep: 10_000, warmup: 0.5 },
  '10us deep': { task: 'spin', us: 10, deep: 10_000, warmup: 0.5 },
  '100us deep': { task: 'spin', us: 100, deep: 2000, warmup: 0.2 },
  '1ms deep': { task: 'spin', us: 1000, deep: 400, warmup: 0.2 },
  '20ms deep': { task: 'spin', us: 20_000, deep: 40, warmup: 0.2 },
  'no-op single': { task: 'noop', inFlight: 1, warmup: 0.5 },
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
};

const MB = 2 ** 20;

/** Bytes go to a worker, which changes one of them, and come back. One call for each worker is under way. */
export const payloads = Object.fromEntries(
  [1, 16].flatMap((size) =>
    ['cloned', 'transferred'].map((how) => [
      `${size}MB ${how}`,
      { bytes: size * MB, transferred: how === 'transferred' },
    ]),
  ),
);

/** A server is asked for its health this many times a second while it computes the Fibonacci number `n`, having computed the `first`. */
export const health = {
  title: '/health during fib(1,000,000)',
  n: 1_000_000,
  first: 20_000,
  perSecond: 200,
};

/** Processes of a cluster are killed, first when nobody asks for anything, then one while requests, each a task of its pool, are under way. */
export const replacement = {
  title: 'replacement after kill -9',
  processes: 2,
  kills: 3,
  connections: 16,
  taskUs: 2000,
};
