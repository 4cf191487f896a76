import { join } from 'node:path';
import { arms } from './arms.js';
import { differences, faultsOf } from './checks.js';
import { figure } from './figures.js';
import { measure, WARMUP_S } from './measure.js';

/** Starting, connecting, what is under way at the end, stopping. */
const BESIDES_S = 1.5;

/** Share of what the direct arm can do in its slowest round: a server that is busy, and keeps up. */
const EQUAL_SHARE = 2 / 3;

/** The time of one run. */
export const runMs = ({ seconds }) => (WARMUP_S + seconds + BESIDES_S) * 1000;

/** Number of runs that `experiment` makes. */
export const runsOf = ({ rounds }) => 2 * arms.length * rounds;

/**
 * Measures both loads on both arms. The arms take turns in short rounds, so that a machine that grows slower
 * or faster does so for both.
 *
 * @param {ReturnType<import('./args.js').readDemoArgs>} options
 * @param {object} context
 * @param {string} context.dir for the servers' data
 * @param {{ server: number } | null} context.cores
 * @param {import('./progress.js').Progress} context.progress
 * @param {import('./cleanup.js').Cleanup} context.cleanup
 * @returns {Promise<{ capacity: import('./table.js').Pairs, equal: import('./table.js').Pairs,
 *   rate: number, faults: string[] }>} `faults` says what was not as it has to be, a line each
 */
export async function experiment(options, context) {
  const { connections, rooms, payload, seconds, rounds } = options;
  const same = { connections, rooms, payload, seconds };
  const faults = [];

  async function both(title, load) {
    const pairs = Object.fromEntries(arms.map((arm) => [arm, []]));
    for (let round = 1; round <= rounds; round += 1) {
      for (const policy of arms) {
        const name = `${title}, round ${round}, ${policy}`;
        const dataDir = join(context.dir, `${title} ${round} ${policy}`.replaceAll(' ', '-'));
        const run = await context.progress.step(
          name,
          () =>
            measure({
              policy,
              load: { ...same, ...load, seed: options.seed + round - 1 },
              dataDir,
              core: context.cores?.server,
              cleanup: context.cleanup,
            }),
          ({ report }) => `${figure(report.msgs_per_s)} messages/s`,
        );
        pairs[policy].push(run);
        faults.push(...faultsOf(run).map((fault) => `${name}: ${fault}`));
      }
    }
    return pairs;
  }

  const capacity = await both('capacity', { mode: 'closed' });
  const rate = options.rate ?? twoDigits(EQUAL_SHARE * slowest(capacity.direct));
  const equal = await both('equal load', { mode: 'open', deliveriesRate: rate });
  for (const [round, direct] of equal.direct.entries()) {
    const found = differences(direct, equal.adaptive[round]);
    faults.push(...found.map((each) => `equal load, round ${round + 1}: ${each}`));
  }
  return { capacity, equal, rate, faults };
}

const slowest = (runs) => Math.min(...runs.map(({ report }) => report.msgs_per_s));

function twoDigits(value) {
  return Math.max(1, Number(value.toPrecision(2)));
}
