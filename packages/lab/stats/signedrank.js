import { normalCdf } from './normal.js';
import { shareAsFar, subsets } from './nulls.js';
import { doubledRanks, tieCorrection } from './ranks.js';
import { pairs } from './samples.js';

/** Most differences that are counted out. */
export const EXACT_DIFFERENCES = 100;

/**
 * The two-sided Wilcoxon signed-rank test (Wilcoxon 1945) of pairs, such as the two arms of one round: do the
 * differences lie around 0? What all of a round share, as a machine that slows down, cancels; the rank-sum test would
 * count it as noise. Pairs without a difference are left out, as Wilcoxon did and as R and SciPy do. Up to {@link
 * EXACT_DIFFERENCES} differences the p is exact, with ties too: the share of all ways of giving signs to these
 * differences whose sum of positive ranks is as far from the middle. Above, it is the normal approximation, corrected
 * for ties and for continuity.
 *
 * Differences must be independent of each other, and by chance as often above 0 as below. 5 pairs cannot give a p
 * below 0.0625.
 *
 * @param {ArrayLike<number>} control one or more
 * @param {ArrayLike<number>} treatment as many
 * @returns {SignedRank} cost: a sort, and some milliseconds for the exact p
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for what is empty, not finite or not in pairs
 *
 * @typedef {object} SignedRank
 * @property {number} w the sum of the ranks of the positive differences, treatment - control
 * @property {number} p above 0 (but for underflow), at most 1; 1 when no pair differs
 * @property {'exact' | 'normal'} method
 * @property {number} zeros pairs without a difference
 * @property {number} ties differences that are as large as another
 * @property {string | null} reason why p says little, if it does
 */
export function signedRank(control, treatment) {
  const [first, second] = pairs(control, treatment);
  const differences = second.map((value, i) => value - first[i]).filter((each) => each !== 0);
  const { ranks, ties } = doubledRanks(differences.map(Math.abs));
  const doubledSum = ranks.reduce((sum, rank, i) => (differences[i] > 0 ? sum + rank : sum), 0);
  const isExact = differences.length <= EXACT_DIFFERENCES;
  return {
    w: doubledSum / 2,
    p: isExact ? exact(ranks, doubledSum) : approximate(doubledSum / 2, differences.length, ties),
    method: isExact ? 'exact' : 'normal',
    zeros: first.length - differences.length,
    ties: ties.reduce((sum, t) => sum + t, 0),
    reason: differences.length === 0 ? 'no pair differs' : null,
  };
}

function exact(ranks, doubledSum) {
  const all = ranks.reduce((sum, rank) => sum + rank, 0);
  return shareAsFar(subsets(ranks), doubledSum, (sum) => Math.abs(2 * sum - all));
}

function approximate(w, n, ties) {
  const variance = (n * (n + 1) * (2 * n + 1)) / 24 - tieCorrection(ties) / 48;
  const distance = Math.abs(w - (n * (n + 1)) / 4) - 0.5;
  return distance <= 0 ? 1 : 2 * normalCdf(-distance / Math.sqrt(variance));
}
