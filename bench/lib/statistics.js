/** The statistics of paired rounds. */
import { mean, median, pairedRatio, signedRank } from '@millrace/lab/stats';
import { LEAST_ROUNDS } from '../../packages/lab/experiment/figure.js';

export { LEAST_ROUNDS, mean, median };

/** Level of every published interval. */
export const LEVEL = 0.95;

/**
 * The share of what was asked for, of one round, above 0: with none it is that of half of one, as nothing can be compared with 0.
 * The `summary` of such a figure is the mean of the rounds, which shows an exception that a median hides.
 *
 * @param {number} part
 * @param {number} whole above 0
 */
export const share = (part, whole) => Math.max(part, 0.5) / whole;

/**
 * Ratio of `ours` to `theirs`, above 1 where ours is better: the Hodges-Lehmann estimate of the rounds' ratios, with
 * the exact interval of the signed-rank test. Rounds are independent of each other; the figures within one are not.
 *
 * @param {'higher' | 'lower'} better
 * @param {number[]} ours one value a round, above 0
 * @param {number[]} theirs as many
 * @returns {{ ahead: number, lo: number, hi: number, level: number, p: number }} `level` is what the interval attains: 95 % or
 *   more; less with fewer than {@link LEAST_ROUNDS} rounds, when it is the widest interval that they allow. `p` is two-sided,
 *   of no difference
 */
export function timesBetter(better, ours, theirs) {
  const [from, to] = better === 'higher' ? [theirs, ours] : [ours, theirs];
  const { estimate, lo, hi, level } = pairedRatio(from, to);
  return { ahead: estimate, lo, hi, level, p: signedRank(from.map(Math.log), to.map(Math.log)).p };
}
