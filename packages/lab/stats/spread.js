/**
 * The middle of a sample and its spread, in the sample's own unit. All refuse what is no finite number, and an empty
 * sample, as `samples.js` says; all cost a sort at most.
 */
import { isConstant, sample } from './samples.js';

/**
 * The arithmetic mean.
 *
 * @param {ArrayLike<number>} values one or more
 */
export function mean(values) {
  const all = sample('values', values);
  // Else the rounding of the sum would give equal values another mean.
  if (isConstant(all)) return all[0];
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

/**
 * The middle value; of an even number the mean of the two in the middle.
 *
 * @param {ArrayLike<number>} values one or more
 */
export const median = (values) => middle(sample('values', values).sort());

/**
 * The median of what is sorted already.
 *
 * @param {Float64Array} sorted one or more, not looked at again
 */
export function middle(sorted) {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * The value below which a share of the sample lies: type 7 of Hyndman and Fan (1996), a straight line between the
 * order statistics (n - 1)·share apart. It is the default of R, NumPy and spreadsheets.
 *
 * @param {ArrayLike<number>} values one or more
 * @param {number} share from 0, the least value, to 1, the greatest
 * @returns {number}
 * @throws {RangeError} when the share is out of range
 */
export function quantile(values, share) {
  if (!(typeof share === 'number' && share >= 0 && share <= 1)) {
    throw new RangeError(`share ${share}: must be a number from 0 to 1`);
  }
  return quantileOf(sample('values', values).sort(), share);
}

/**
 * The quantile of what is sorted already.
 *
 * @param {Float64Array} sorted one or more, not looked at again
 * @param {number} share
 */
function quantileOf(sorted, share) {
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

/**
 * The interquartile range: the width of the middle half. 0 of one value.
 *
 * @param {ArrayLike<number>} values one or more
 */
export function interquartileRange(values) {
  const sorted = sample('values', values).sort();
  return quantileOf(sorted, 0.75) - quantileOf(sorted, 0.25);
}

/**
 * The median distance from the median, as it is: times 1.4826 (as R's `mad` returns it) it estimates the standard
 * deviation of a normal distribution. 0 of one value.
 *
 * @param {ArrayLike<number>} values one or more
 */
export function medianAbsoluteDeviation(values) {
  const sorted = sample('values', values).sort();
  const center = middle(sorted);
  return middle(sorted.map((value) => Math.abs(value - center)).sort());
}

/**
 * The standard deviation, by n - 1.
 *
 * @param {ArrayLike<number>} values one or more
 * @returns {number | null} null of one value, which has no spread to tell; 0 when all are the same
 */
export function standardDeviation(values) {
  const all = sample('values', values);
  if (all.length < 2) return null;
  if (isConstant(all)) return 0;
  const center = mean(all);
  const deviations = all.map((value) => value - center);
  // Taken out of the squares, which would lose what is very small.
  const largest = deviations.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const squares = deviations.reduce((sum, each) => sum + (each / largest) ** 2, 0);
  return largest * Math.sqrt(squares / (all.length - 1));
}

/**
 * The standard deviation as a share of the mean: 0.05 is a spread of 5 %. It says something of quantities that are
 * never below 0.
 *
 * @param {ArrayLike<number>} values one or more
 * @returns {number | null} null of one value, and where the mean is 0
 */
export function coefficientOfVariation(values) {
  const deviation = standardDeviation(values);
  const share = deviation === null ? Number.NaN : deviation / Math.abs(mean(values));
  return Number.isFinite(share) ? share : null;
}
