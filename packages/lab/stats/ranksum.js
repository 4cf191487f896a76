import { normalCdf } from './normal.js';
import { choices, shareAsFar } from './nulls.js';
import { doubledRanks, tieCorrection } from './ranks.js';
import { isConstant, sample } from './samples.js';

/** Most pairs of values that are counted out: 50 an arm, the size of the published study. */
export const EXACT_PAIRS = 2500;

/**
 * The two-sided Wilcoxon rank-sum test (Wilcoxon 1945; Mann and Whitney 1947): could two samples come from the same
 * distribution? It looks at the order of the values alone. Up to {@link EXACT_PAIRS} pairs the p is exact, with ties
 * too: the share of all divisions of these values into arms of these sizes whose rank sum is as far from the expected
 * one, on either side. Above, it is the normal approximation, corrected for ties and for continuity.
 *
 * The values of one sample must be independent of each other. Samples that are too small never come out: 3 values an
 * arm cannot give a p below 0.1, nor 4 one below 0.028.
 *
 * @param {ArrayLike<number>} control one or more
 * @param {ArrayLike<number>} treatment one or more
 * @returns {RankSum} cost: a sort, and for the exact p some 50 ms at 50 values an arm
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample and what is not finite
 *
 * @typedef {object} RankSum
 * @property {number} u in how many of the n·m pairs the treatment is greater; equal pairs count half
 * @property {number} p above 0 (but for underflow), at most 1; 1 when all values are the same
 * @property {'exact' | 'normal'} method
 * @property {number} ties values that are equal to another
 * @property {string | null} reason why p says little, if it does
 */
export function rankSum(control, treatment) {
  const [first, second] = [sample('control', control), sample('treatment', treatment)];
  const [n, m] = [first.length, second.length];
  const all = Float64Array.of(...first, ...second);
  const { ranks, ties } = doubledRanks(all);
  const doubledSum = ranks.subarray(n).reduce((sum, rank) => sum + rank, 0);
  const u = (doubledSum - m * (m + 1)) / 2;
  const isExact = n * m <= EXACT_PAIRS;
  return {
    u,
    p: isExact ? exact(ranks, n, ties) : approximate(u, n, m, ties),
    method: isExact ? 'exact' : 'normal',
    ties: ties.reduce((sum, t) => sum + t, 0),
    reason: isConstant(all) ? 'all values are the same' : null,
  };
}

/** The smaller arm is chosen from all: less work, and the same p. */
function exact(ranks, n, ties) {
  const isFirstSmaller = n <= ranks.length - n;
  const smaller = isFirstSmaller ? ranks.subarray(0, n) : ranks.subarray(n);
  // Smaller numbers, less work: from 0, and where there are no ties not doubled.
  const least = ranks.reduce((some, rank) => Math.min(some, rank));
  const weightOf = (rank) => (rank - least) / (ties.length === 0 ? 2 : 1);
  const sumOf = (some) => some.reduce((sum, rank) => sum + weightOf(rank), 0);
  const expected = smaller.length * sumOf(ranks);
  const distance = (sum) => Math.abs(sum * ranks.length - expected);
  return shareAsFar(choices(ranks.map(weightOf), smaller.length), sumOf(smaller), distance);
}

function approximate(u, n, m, ties) {
  const all = n + m;
  const variance = ((n * m) / 12) * (all + 1 - tieCorrection(ties) / (all * (all - 1)));
  const distance = Math.abs(u - (n * m) / 2) - 0.5;
  return distance <= 0 ? 1 : 2 * normalCdf(-distance / Math.sqrt(variance));
}
