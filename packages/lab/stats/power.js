import { gaussian, normalQuantile } from './normal.js';
import { mannWhitneyNull } from './nulls.js';
import { randomFrom } from './random.js';
import { EXACT_PAIRS } from './ranksum.js';
import { checkSeed, checkShare, checkWhole, LARGEST } from './samples.js';

const MOST_VALUES = 1000;

/**
 * Share of experiments in which the rank-sum test finds an effect, with its right sign: by simulation, as formulas are wrong for the few
 * rounds an experiment has. The noise is normal; where it has longer tails, of the same standard deviation, the test
 * finds more.
 *
 * @param {object} options
 * @param {number} options.n values an arm, 1 to 1,000
 * @param {number} options.spread the standard deviation of one arm, above 0: as the same arm measured twice shows it,
 *   in any unit
 * @param {number} options.effect the shift between the arms, in the same unit; its sign does not matter
 * @param {number} options.seed of the noise, a whole number from 0 to 2^32 - 1
 * @param {number} [options.alpha] up to which p counts as found, above 0 and below 1; default 0.05
 * @param {number} [options.experiments] to simulate, 100 to 10,000; default 2,000
 * @returns {number} 0 to 1, with a standard error of at most 0.5 / √experiments (0.011); cost: experiments · a sort
 *   of 2n values, which are kept meanwhile
 * @throws {RangeError} for options out of range
 */
export function power({ effect, ...options }) {
  if (!(typeof effect === 'number' && Math.abs(effect) <= LARGEST)) {
    throw new RangeError(`effect ${effect}: must be a number from -1e150 to 1e150`);
  }
  const { spread, shareFound } = simulation(options);
  return shareFound(Math.abs(effect) / spread);
}

/**
 * The smallest effect that is found as often as `power` says: what the machine is quiet enough for.
 *
 * @param {object} options
 * @param {number} options.n as in {@link power}
 * @param {number} options.spread as in {@link power}
 * @param {number} options.seed as in {@link power}
 * @param {number} [options.power] above 0 and below 1; default 0.8
 * @param {number} [options.alpha] as in {@link power}
 * @param {number} [options.experiments] as in {@link power}
 * @returns {number | null} in the unit of the spread, to 0.1 %; null when so few values find no effect, however
 *   great; 0 when chance alone finds one so often. Cost: a few times {@link power}
 * @throws {RangeError} for options out of range
 */
export function smallestEffect({ power: wanted = 0.8, ...options }) {
  checkShare('power', wanted);
  const { spread, canFind, shareFound } = simulation(options);
  if (!canFind) return null;
  if (shareFound(0) >= wanted) return 0;
  let [below, above] = [0, 1];
  while (shareFound(above) < wanted) [below, above] = [above, above * 2];
  while (above - below > 0.001 * above) {
    const between = (below + above) / 2;
    if (shareFound(between) < wanted) below = between;
    else above = between;
  }
  return above * spread;
}

/** Makes the same noise for every effect, so that a greater one is never found less often. */
function simulation({ n, spread, seed, alpha = 0.05, experiments = 2000 }) {
  checkWhole('n', n, 1, MOST_VALUES);
  checkWhole('experiments', experiments, 100, 1e4);
  checkSeed(seed);
  checkShare('alpha', alpha);
  if (!(typeof spread === 'number' && spread >= 1 / LARGEST && spread <= LARGEST)) {
    throw new RangeError(`spread ${spread}: must be a number from 1e-150 to 1e150`);
  }
  const most = greatestRefused(n, alpha);
  const random = randomFrom(seed);
  const arm = () => Float64Array.from({ length: n }, () => gaussian(random)).sort();
  const simulated = Array.from({ length: experiments }, () => [arm(), arm()]);
  const isFound = (effect) => (arms) => n * n - wins(...arms, effect) <= most;
  const shareFound = (effect) => simulated.filter(isFound(effect)).length / experiments;
  return { spread, canFind: most >= 0, shareFound };
}

/**
 * The greatest statistic whose p, as {@link import('./ranksum.js').rankSum} has it, is at most alpha; below 0 when
 * there is none.
 */
function greatestRefused(n, alpha) {
  if (n * n > EXACT_PAIRS) {
    const deviation = Math.sqrt((n * n * (2 * n + 1)) / 12);
    return Math.floor((n * n - 1) / 2 + normalQuantile(alpha / 2) * deviation);
  }
  const probabilities = mannWhitneyNull(n, n);
  let most = -1;
  for (let p = 2 * probabilities[0]; p <= alpha; p += 2 * probabilities[most + 1]) most += 1;
  return most;
}

/** In how many pairs the treatment, moved by the effect, is greater; both are sorted. */
function wins(control, treatment, effect) {
  let smaller = 0;
  return treatment.reduce((sum, value) => {
    while (smaller < control.length && control[smaller] < value + effect) smaller += 1;
    return sum + smaller;
  }, 0);
}
