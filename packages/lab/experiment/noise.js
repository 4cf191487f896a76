import { median, pairedRatio, signedRank, standardDeviation } from '../stats/index.js';
import { detectable, roundsFor } from './detectable.js';

/** Up to which p two arms are called different. */
export const ALPHA = 0.05;

/**
 * What the control and its twin, the same program, say of the noise of a metric.
 *
 * @param {number[]} control a value for each round, one round or more
 * @param {number[]} twin of the same rounds
 * @returns {{ ahead: number | null, lo: number | null, hi: number | null, p: number, medians: number[] }} `ahead` is twin ÷ control, `medians`
 *   are of the control and of the twin
 */
export function twinFigure(control, twin) {
  const { p } = signedRank(control, twin);
  const medians = [control, twin].map(median);
  if (!hasRatio(control, twin)) return { ahead: null, lo: null, hi: null, p, medians };
  const { estimate, lo, hi } = pairedRatio(control, twin);
  return { ahead: estimate, lo, hi, p, medians };
}

/**
 * The smallest ratio that a number of rounds show in 4 of 5 experiments.
 *
 * @param {number | null} spread as {@link ratioSpread}
 * @param {number} rounds
 * @returns {number | null} above 1, 1 without noise; null when nothing can be shown
 */
export function smallestRatio(spread, rounds) {
  const effect = detectable(rounds);
  return spread === null || effect === null ? null : Math.exp(effect * spread);
}

/**
 * How many rounds show a ratio in 4 of 5 experiments.
 *
 * @param {number | null} spread as {@link ratioSpread}
 * @param {number} ratio on either side of 1
 * @returns {number | null} 6 or more; null when it cannot be told: without a spread, and of the ratio 1
 */
export function roundsForRatio(spread, ratio) {
  const effect = Math.abs(Math.log(ratio));
  if (spread === null || effect === 0) return null;
  return roundsFor(effect / spread);
}

/**
 * The noise between two runs of a round: the standard deviation of the logarithm of their ratio. 0.05 is about 5 %.
 *
 * @param {number[]} control
 * @param {number[]} other of the same rounds
 * @returns {number | null} null of one round, and without a ratio
 */
export function ratioSpread(control, other) {
  if (control.length === 0 || !hasRatio(control, other)) return null;
  return standardDeviation(control.map((value, i) => Math.log(other[i] / value)));
}

/** Whether every round has a ratio: nothing divided by nothing is none. */
export const hasRatio = (control, other) =>
  [...control, ...other].every((value) => value >= 1e-150);
