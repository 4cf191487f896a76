import { rankSum } from './ranksum.js';

/** Words for sizes of delta: Romano, Kromrey, Coraggio and Skowronek (2006), by what Cohen's d calls so. */
const WORDS = [
  [0.147, 'negligible'],
  [0.33, 'small'],
  [0.474, 'medium'],
  [Number.POSITIVE_INFINITY, 'large'],
];

/**
 * Cliff's delta (1993): how much more often a value of the treatment is greater than one of the control than it is
 * smaller. It says how well the arms can be told apart, and nothing of how much they differ: on a quiet machine a
 * shift of 1 % can be a delta of 1.
 *
 * @param {ArrayLike<number>} control one or more
 * @param {ArrayLike<number>} treatment one or more
 * @returns {{ delta: number, word: 'negligible' | 'small' | 'medium' | 'large' }} delta from -1, all are smaller, to
 *   1, all are greater; 0 when all are the same
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample and what is not finite
 */
export function cliffsDelta(control, treatment) {
  const { u } = rankSum(control, treatment);
  const all = control.length * treatment.length;
  const delta = (2 * u - all) / all;
  return { delta, word: deltaWord(delta) };
}

/**
 * Word for the size of Cliff's delta.
 *
 * @param {number} delta -1 to 1
 * @returns {'negligible' | 'small' | 'medium' | 'large'}
 */
export function deltaWord(delta) {
  const [, word] = WORDS.find(([below]) => Math.abs(delta) < below);
  return word;
}
