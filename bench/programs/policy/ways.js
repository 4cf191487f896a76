/**
 * Loads, ways to batch, and the score of an arm. Rates are deliveries per second; delays are in ms.
 *
 * @typedef {object} Load
 * @property {string} name
 * @property {object} [crowd] of WebSockets; without it the load is of durable inserts by `batch()`, or a log
 * @property {'c' | 'go'} [backend] of libuvbatch or the Go module: a durable log
 * @property {object} offered options of the generator; `perSecond` of inserts and of a log
 * @property {false} [quick] only in a full run
 *
 * @typedef {object} Way
 * @property {'direct' | 'fixed' | 'adaptive'} policy
 * @property {number} maxDelay the budget
 * @property {object} [others] options of the queue besides
 * @property {false} [quick]
 */

const of10Rooms = { connections: 500, rooms: 10 };
const open = (deliveriesRate, pattern) => ({
  mode: 'open',
  deliveriesRate,
  ...(pattern === undefined ? {} : { pattern }),
});

/** @type {Load[]} */
export const loads = [
  { name: '5k', crowd: of10Rooms, offered: open(5000), quick: false },
  { name: '20k', crowd: of10Rooms, offered: open(20_000) },
  { name: '50k', crowd: of10Rooms, offered: open(50_000) },
  { name: '100k', crowd: of10Rooms, offered: open(100_000) },
  { name: '160k', crowd: of10Rooms, offered: open(160_000), quick: false },
  { name: '450k', crowd: of10Rooms, offered: open(450_000), quick: false },
  { name: 'closed', crowd: of10Rooms, offered: { mode: 'closed' } },
  { name: 'spikes 50k', crowd: of10Rooms, offered: open(50_000, 'spikes'), quick: false },
  {
    name: '2000x20 60k',
    crowd: { connections: 2000, rooms: 20 },
    offered: open(60_000),
    quick: false,
  },
  { name: 'inserts 100', offered: { perSecond: 100 }, quick: false },
  { name: 'inserts 300', offered: { perSecond: 300 }, quick: false },
  { name: 'inserts 1000', offered: { perSecond: 1000 } },
  { name: 'c log 300', backend: 'c', offered: { perSecond: 300 }, quick: false },
  { name: 'c log 1000', backend: 'c', offered: { perSecond: 1000 } },
  { name: 'go log 300', backend: 'go', offered: { perSecond: 300 }, quick: false },
  { name: 'go log 1000', backend: 'go', offered: { perSecond: 1000 } },
];

const fixed = (maxDelay, quick) => ({ policy: 'fixed', maxDelay, quick });
const adaptive = (maxDelay, quick) => ({ policy: 'adaptive', maxDelay, quick });

/** The end of the turn is what `adaptive` does without a budget. */
export const endOfTurn = 'end of turn';

/** Holds what `fixed 5` holds, but measures all that `adaptive` does: the difference is the cost of measuring. */
export const measuring = 'measuring 5';

/** @type {Record<string, Way>} */
export const ways = {
  direct: { policy: 'direct', maxDelay: 0 },
  [endOfTurn]: adaptive(0),
  'fixed 1': fixed(1, false),
  'fixed 2': fixed(2, false),
  'fixed 5': fixed(5),
  'fixed 10': fixed(10, false),
  'fixed 20': fixed(20),
  'fixed 50': fixed(50),
  'adaptive 2': adaptive(2, false),
  'adaptive 5': adaptive(5),
  'adaptive 20': adaptive(20, false),
  'adaptive 50': adaptive(50),
  [measuring]: { ...adaptive(5), others: { minSaving: 0, hold: 'always' } },
};

/** Ways of a log, which c/bench/policy.c and bench/go/cmd/policy know by these names. */
export const waysOfLogs = [
  'direct',
  endOfTurn,
  'fixed 5',
  'fixed 20',
  'fixed 50',
  'adaptive 5',
  'adaptive 50',
];

/** Price of a ms of delay in cores: the default of `minSaving`. */
const price = 0.005;

/**
 * Cost of an arm in cores: its CPU, and its median latency at the price of a ms, which falls with the square of the time that the
 * loop has left.
 *
 * @param {{ cores: number, p50_ms: number }} sample
 */
export function score({ cores, p50_ms }) {
  return cores + price * (1 - Math.min(1, cores)) ** 2 * p50_ms;
}

/**
 * Reports whether the arm kept up: one that falls behind is never the best choice. In a second and a half of random arrivals some
 * hundred messages come, more or less by a few percent, and a hold moves some of them over the edge of the window.
 */
export const keepsUp = ({ msgs_per_s, cores }, { deliveriesRate }) =>
  deliveriesRate === undefined ? cores < 0.97 : msgs_per_s >= 0.85 * deliveriesRate;

/**
 * Returns the best of the ways within a budget, in hindsight: by its mean score, among those that kept up in every round.
 *
 * @param {Record<string, object>[]} rounds samples by way
 * @param {number} budget
 * @param {object} offered
 */
export function bestWithin(rounds, budget, offered) {
  const candidates = Object.keys(rounds[0]).filter((name) => {
    const { policy, maxDelay } = ways[name];
    const isArm = policy !== 'adaptive' || maxDelay === 0;
    return isArm && maxDelay <= budget && rounds.every((round) => keepsUp(round[name], offered));
  });
  const mean = (name) => rounds.reduce((sum, round) => sum + score(round[name]), 0);
  return candidates.toSorted((a, b) => mean(a) - mean(b))[0];
}
