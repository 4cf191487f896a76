/**
 * Which sums of ranks to expect by chance, counted and not approximated: one weight after the other, the
 * number of choices for each sum (dynamic programming). Equal weights, as ties have, are no matter. The counts grow
 * beyond what a double holds to the last digit; as nothing is ever taken away, they stay right in the first thirteen.
 */

/**
 * Number of choices of `size` weights with each sum.
 *
 * @param {ArrayLike<number>} weights whole numbers from 0
 * @param {number} size
 * @returns {Float64Array} by sum; cost: weights · size · greatest sum
 */
export function choices(weights, size) {
  const rising = Array.from(weights).sort((a, b) => a - b);
  const sums = [0];
  for (const weight of rising) sums.push(sums[sums.length - 1] + weight);
  /** The greatest sum of this many of the weights up to here. */
  const greatest = (upTo, taken) => sums[upTo] - sums[upTo - taken];
  const length = greatest(rising.length, size) + 1;
  const bySize = Array.from({ length: size + 1 }, () => new Float64Array(length));
  bySize[0][0] = 1;
  for (let upTo = 1; upTo <= rising.length; upTo += 1) {
    // With less than `least` the rest would not be enough.
    const least = Math.max(1, size - (rising.length - upTo));
    for (let taken = Math.min(size, upTo); taken >= least; taken -= 1) {
      add(bySize[taken], bySize[taken - 1], rising[upTo - 1], greatest(upTo, taken));
    }
  }
  return bySize[size];
}

/**
 * Number of subsets of the weights with each sum.
 *
 * @param {ArrayLike<number>} weights whole numbers from 0
 * @returns {Float64Array} by sum; cost: weights · sum of all
 */
export function subsets(weights) {
  const greatest = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = new Float64Array(greatest + 1);
  counts[0] = 1;
  for (const weight of weights) add(counts, counts, weight, greatest);
  return counts;
}

/** Adds from the top, so that a weight is not added twice where both are the same. */
function add(to, from, weight, greatest) {
  for (let sum = greatest; sum >= weight; sum -= 1) to[sum] += from[sum - weight];
}

/**
 * The share of choices that are as far from what is expected as the observed one, or farther, on either side.
 *
 * @param {Float64Array} counts by sum
 * @param {number} observed sum
 * @param {(sum: number) => number} distance a whole number, so that equal distances are equal
 * @returns {number} above 0, at most 1
 */
export function shareAsFar(counts, observed, distance) {
  const least = distance(observed);
  const far = counts.reduce((sum, count, at) => (distance(at) >= least ? sum + count : sum), 0);
  return Math.min(1, far / total(counts));
}

/**
 * The Mann-Whitney statistic by chance, when no values are equal.
 *
 * @param {number} n
 * @param {number} m
 * @returns {Float64Array} the probability of each, from 0 to n·m
 */
export function mannWhitneyNull(n, m) {
  const size = Math.min(n, m);
  const counts = choices([...Array(n + m).keys()], size).slice((size * (size - 1)) / 2);
  return probabilities(counts);
}

/**
 * The signed-rank statistic by chance, when no differences are equal or 0.
 *
 * @param {number} n
 * @returns {Float64Array} the probability of each, from 0 to n·(n + 1) / 2
 */
export const signedRankNull = (n) =>
  probabilities(subsets(Array.from({ length: n }, (_, i) => i + 1)));

function probabilities(counts) {
  const all = total(counts);
  return counts.map((count) => count / all);
}

const total = (counts) => counts.reduce((sum, count) => sum + count, 0);
