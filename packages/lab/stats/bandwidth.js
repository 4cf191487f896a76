import { randomFrom, shuffled } from './random.js';
import { checkSeed, isConstant, LARGEST, sample } from './samples.js';
import { standardDeviation } from './spread.js';

const FOLDS = 5;

/** Bandwidths to try, as multiples of Scott's: an eighth to four times as much, in steps of a quarter of a doubling. */
const FACTORS = Array.from({ length: 21 }, (_, i) => 2 ** (i / 4 - 3));

/**
 * The bandwidth by Scott's rule: the standard deviation · n^(-1/5), as SciPy's `gaussian_kde` has it (R's `bw.nrd`
 * takes 1.06 times as much, of the smaller of two spreads). Right for a distribution that is nearly normal; it
 * smooths two peaks into one.
 *
 * @param {ArrayLike<number>} values one or more
 * @returns {number} in the unit of the values; 0 of one value, and when all are the same
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample and what is not finite
 */
export function scottBandwidth(values) {
  return (standardDeviation(values) ?? 0) * values.length ** -0.2;
}

/**
 * The bandwidth that foretells best what it has not seen: five times a fifth of the values, chosen at random, is left
 * out, and the likelihood of these by the density of the others is compared for 21 bandwidths from an eighth of
 * Scott's to four times as much. With fewer than five values each is left out alone. It sees two peaks where Scott's
 * rule does not; many equal values draw it to 0, which is when `atEdge` says so.
 *
 * @param {ArrayLike<number>} values one or more
 * @param {object} options
 * @param {number} options.seed of the choice, a whole number from 0 to 2^32 - 1
 * @returns {CrossValidated} cost: 21 · values² exponentials
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample, what is not finite and a wrong seed
 *
 * @typedef {object} CrossValidated
 * @property {number} bandwidth in the unit of the values; 0 of one value, and when all are the same
 * @property {number | null} factor what it is of Scott's; null without one
 * @property {boolean} atEdge whether it is the smallest or the greatest that was tried: a better one may lie beyond
 */
export function crossValidatedBandwidth(values, { seed } = {}) {
  // The order of the values is nothing to go by.
  const all = sample('values', values).sort();
  checkSeed(seed);
  const scott = scottBandwidth(all);
  if (isConstant(all) || scott < 1 / LARGEST) return { bandwidth: 0, factor: null, atEdge: false };
  const mixed = shuffled(all, randomFrom(seed));
  const folds = Math.min(FOLDS, mixed.length);
  const likelihoods = FACTORS.map((factor) => logLikelihood(mixed, folds, factor * scott));
  const best = likelihoods.indexOf(Math.max(...likelihoods));
  return {
    bandwidth: FACTORS[best] * scott,
    factor: FACTORS[best],
    atEdge: best === 0 || best === FACTORS.length - 1,
  };
}

/** Sum over all values, each by the density of those outside its fold; terms that no bandwidth changes are left out. */
function logLikelihood(values, folds, bandwidth) {
  return values.reduce((sum, value, i) => {
    const exponents = values
      .filter((_, j) => j % folds !== i % folds)
      .map((other) => -(((value - other) / bandwidth) ** 2) / 2);
    // A value that is far from all others has a density too small for a number, but not its logarithm.
    const most = Math.max(...exponents);
    const rest = exponents.reduce((total, each) => total + Math.exp(each - most), 0);
    return sum + most + Math.log(rest / (exponents.length * bandwidth));
  }, 0);
}
