/** The statistics of paired rounds. */
import { median } from 'millrace-lab/stats';
import { randomFrom } from './random.js';

export { median };

const resamples = 10_000;

/**
 * The 95 % percentile bootstrap interval of the median. The rounds are what is drawn again: they
 * are independent of each other, the figures within one are not.
 *
 * @param {number[]} values one a round
 * @param {number} seed of the drawing
 * @returns {[lo: number, hi: number]}
 */
export function bootstrapInterval(values, seed) {
  const random = randomFrom(seed);
  const draw = () => values[Math.floor(random() * values.length)];
  const medians = Float64Array.from({ length: resamples }, () => median(values.map(draw))).sort();
  return [medians[Math.floor(resamples * 0.025)], medians[Math.ceil(resamples * 0.975) - 1]];
}

/** How many times better `ours` is than `theirs`: above 1 is ahead. */
export function timesBetter(better, ours, theirs) {
  return better === 'higher' ? ours / theirs : theirs / ours;
}
