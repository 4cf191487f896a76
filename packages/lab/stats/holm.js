import { sample } from './samples.js';

/**
 * Holm's correction (1979): of several metrics that are tested at once, some come out by chance. A metric whose
 * adjusted p is at most 0.05 stands; that even one of those that stand is there by chance happens in at most 5 % of
 * experiments, however the metrics hang together.
 *
 * @param {ArrayLike<number>} ps one of each metric, from 0 to 1; leave out what could not be tested
 * @returns {number[]} adjusted, in the same order: none is smaller than before, none above 1
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for a p out of range
 */
export function holm(ps) {
  const all = sample('ps', ps, 0);
  const wrong = all.findIndex((p) => p < 0 || p > 1);
  if (wrong !== -1) throw new RangeError(`ps[${wrong}] is ${all[wrong]}: must be from 0 to 1`);
  const adjusted = Array(all.length);
  let most = 0;
  [...all.keys()]
    .sort((a, b) => all[a] - all[b])
    .forEach((index, smaller) => {
      most = Math.max(most, Math.min(1, all[index] * (all.length - smaller)));
      adjusted[index] = most;
    });
  return adjusted;
}
