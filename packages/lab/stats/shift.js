import { normalQuantile } from './normal.js';
import { mannWhitneyNull, signedRankNull } from './nulls.js';
import { EXACT_PAIRS } from './ranksum.js';
import { checkShare, LARGEST, pairs, sample } from './samples.js';
import { EXACT_DIFFERENCES } from './signedrank.js';
import { middle } from './spread.js';

/** Most differences that fit into a reasonable memory. */
const MOST_DIFFERENCES = 1e7;

/**
 * Shift of the treatment from the control (Hodges and Lehmann, 1963): the median of all differences
 * between a value of one and a value of the other, with the interval of the shifts that the rank-sum test would not
 * refuse. Neither one wild value nor a long tail moves it far. It is the shift if both have the same shape; otherwise
 * it is still the middle of the differences.
 *
 * Up to 2,500 pairs the interval is by the exact distribution, above by the normal approximation; ties count as if
 * there were none, which makes it wider, not narrower.
 *
 * @param {ArrayLike<number>} control one or more
 * @param {ArrayLike<number>} treatment one or more
 * @param {object} [options]
 * @param {number} [options.level] of the interval, above 0 and below 1; default 0.95
 * @returns {Estimate} in the unit of the values; cost: sorting n·m differences, at most 10 million
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample, what is not finite, a wrong level, and too many values
 *
 * @typedef {object} Estimate
 * @property {number} estimate
 * @property {number} lo
 * @property {number} hi
 * @property {number} level how often such an interval covers the truth: at least what was asked for, unless the
 *   samples are too small for that; then it is the widest that they allow, and this is its lower level, down to 0
 * @property {'exact' | 'normal'} method
 * @property {string | null} reason why the interval says little, if it does
 */
export function shift(control, treatment, { level = 0.95 } = {}) {
  const [first, second] = [sample('control', control), sample('treatment', treatment)];
  return between(first, second, level);
}

/**
 * Ratio of the treatment to the control: {@link shift} of the logarithms. 1.1 is 10 % more. It does not depend
 * on the unit, and the ratio the other way round is its inverse.
 *
 * @param {ArrayLike<number>} control one or more, all above 0
 * @param {ArrayLike<number>} treatment the same
 * @param {object} [options]
 * @param {number} [options.level] of the interval, above 0 and below 1; default 0.95
 * @returns {Estimate} of a ratio, above 0
 * @throws {TypeError} as {@link shift}
 * @throws {RangeError} as {@link shift}, and for a value below 1e-150
 */
export function ratio(control, treatment, { level = 0.95 } = {}) {
  const [first, second] = [sample('control', control), sample('treatment', treatment)];
  return asRatio(between(logs('control', first), logs('treatment', second), level));
}

/**
 * The shift of pairs: the median of the means of any two differences, each with itself too (Walsh averages), with the
 * interval of the shifts that the signed-rank test would not refuse. Exact up to 100 pairs.
 *
 * @param {ArrayLike<number>} control one or more
 * @param {ArrayLike<number>} treatment as many
 * @param {object} [options]
 * @param {number} [options.level] of the interval, above 0 and below 1; default 0.95
 * @returns {Estimate} cost: sorting n·(n + 1) / 2 means, at most 10 million
 * @throws {TypeError} as {@link shift}
 * @throws {RangeError} as {@link shift}, and when they are not in pairs
 */
export function pairedShift(control, treatment, { level = 0.95 } = {}) {
  const [first, second] = pairs(control, treatment);
  return within(first, second, level);
}

/**
 * Ratio of the treatment to the control in a pair: {@link pairedShift} of the logarithms.
 *
 * @param {ArrayLike<number>} control one or more, all above 0
 * @param {ArrayLike<number>} treatment as many
 * @param {object} [options]
 * @param {number} [options.level] of the interval, above 0 and below 1; default 0.95
 * @returns {Estimate} of a ratio, above 0
 * @throws {TypeError} as {@link shift}
 * @throws {RangeError} as {@link pairedShift}, and for a value below 1e-150
 */
export function pairedRatio(control, treatment, { level = 0.95 } = {}) {
  const [first, second] = pairs(control, treatment);
  return asRatio(within(logs('control', first), logs('treatment', second), level));
}

function between(control, treatment, level) {
  const [n, m] = [control.length, treatment.length];
  const differences = room(n * m);
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j < m; j += 1) differences[i * m + j] = treatment[j] - control[i];
  }
  const isExact = n * m <= EXACT_PAIRS;
  const chance = isExact
    ? { probabilities: mannWhitneyNull(n, m) }
    : { deviation: Math.sqrt((n * m * (n + m + 1)) / 12) };
  return estimate(differences, chance, level);
}

function within(control, treatment, level) {
  const n = control.length;
  const means = room((n * (n + 1)) / 2);
  const differences = treatment.map((value, i) => value - control[i]);
  for (let i = 0, at = 0; i < n; i += 1) {
    for (let j = i; j < n; j += 1, at += 1) means[at] = (differences[i] + differences[j]) / 2;
  }
  const isExact = n <= EXACT_DIFFERENCES;
  const chance = isExact
    ? { probabilities: signedRankNull(n) }
    : { deviation: Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24) };
  return estimate(means, chance, level);
}

function room(length) {
  if (length <= MOST_DIFFERENCES) return new Float64Array(length);
  throw new RangeError(
    `${length} differences: must be ${MOST_DIFFERENCES} or fewer; estimate from a part of the values`,
  );
}

/**
 * Estimates a shift. The number of differences above 0 is the statistic of the test, so that the shifts it would not refuse lie
 * between two of the differences, as many from either end.
 */
function estimate(differences, { probabilities, deviation }, level) {
  checkShare('level', level);
  differences.sort();
  const last = differences.length - 1;
  const limit = probabilities
    ? exactLimit(probabilities, (1 - level) / 2)
    : { outside: approximateLimit(last + 1, deviation, level), attained: level };
  const [lo, hi] = [differences[limit.outside], differences[last - limit.outside]];
  return {
    ...{ estimate: middle(differences), lo, hi, level: limit.attained },
    method: probabilities ? 'exact' : 'normal',
    reason: reasonOf(lo, hi, limit.attained, level),
  };
}

/** Number of differences at each end that are outside of the interval. */
function exactLimit(probabilities, tail) {
  let outside = 0;
  let below = probabilities[0];
  while (below + probabilities[outside + 1] <= tail) {
    outside += 1;
    below += probabilities[outside];
  }
  return { outside, attained: Math.max(0, 1 - 2 * below) };
}

const approximateLimit = (count, deviation, level) =>
  Math.max(0, Math.floor(count / 2 - normalQuantile((1 + level) / 2) * deviation) - 1);

function reasonOf(lo, hi, attained, level) {
  if (attained < level) {
    return `too few values for an interval of ${percent(level)}: the widest is of ${percent(attained)}`;
  }
  return lo === hi ? 'all differences within the interval are the same' : null;
}

const percent = (share) => `${Number((share * 100).toPrecision(3))} %`;

const asRatio = (found) => ({
  ...found,
  estimate: Math.exp(found.estimate),
  lo: Math.exp(found.lo),
  hi: Math.exp(found.hi),
});

function logs(name, values) {
  const tooSmall = values.findIndex((value) => value < 1 / LARGEST);
  if (tooSmall === -1) return values.map(Math.log);
  throw new RangeError(
    `${name}[${tooSmall}] is ${values[tooSmall]}: must be above 0 (1e-150 or more) for a ratio`,
  );
}
