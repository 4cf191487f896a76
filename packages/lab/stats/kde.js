import { crossValidatedBandwidth, scottBandwidth } from './bandwidth.js';
import { checkWhole, LARGEST, sample } from './samples.js';

/** Beyond this many bandwidths from the outermost value, nothing can be seen of the curve. */
const MARGIN = 3;

/**
 * The density of a sample, as a curve: the mean of Gaussians, one around each value (Rosenblatt 1956, Parzen 1962).
 * Its area is 1. It knows no bounds: near 0 some of it may lie below, where no value can.
 *
 * @param {ArrayLike<number>} values one or more
 * @param {object} [options]
 * @param {'scott' | 'cross-validated' | number} [options.bandwidth] a rule, or a number from 1e-150 to 1e150 in the
 *   unit of the values; default `scott`
 * @param {number} [options.seed] of `cross-validated`, which needs it
 * @param {number} [options.points] of the curve, equally far apart: 2 to 100,000; default 256
 * @param {number} [options.from] the first; default three bandwidths below the least value. Give both to draw two
 *   arms on one axis
 * @param {number} [options.to] the last, above `from`; default three bandwidths above the greatest value
 * @returns {Density} cost: values · points exponentials
 * @throws {TypeError} for anything but numbers
 * @throws {RangeError} for an empty sample, what is not finite and options out of range
 *
 * @typedef {object} Density
 * @property {number[]} x points, in the unit of the values
 * @property {number[]} density at each, as a share per unit
 * @property {number} bandwidth 0 when there is no curve
 * @property {boolean} atEdge a better bandwidth may lie beyond those that cross validation has tried
 * @property {number | null} point where all of the sample is, when it has no spread and so no curve: `x` and
 *   `density` are then empty
 */
export function kde(values, { bandwidth = 'scott', seed, points = 256, from, to } = {}) {
  const all = sample('values', values).sort();
  checkWhole('points', points, 2, 1e5);
  const { width, atEdge = false } = widthOf(all, bandwidth, seed);
  if (width < 1 / LARGEST) return { x: [], density: [], bandwidth: 0, atEdge, point: all[0] };
  const first = bound('from', from, all[0] - MARGIN * width);
  const last = bound('to', to, all[all.length - 1] + MARGIN * width);
  if (!(first < last)) throw new RangeError(`from ${first} to ${last}: must rise`);
  const step = (last - first) / (points - 1);
  const x = Array.from({ length: points }, (_, i) => first + i * step);
  return { x, density: densityAt(all, width, x), bandwidth: width, atEdge, point: null };
}

function widthOf(values, bandwidth, seed) {
  if (bandwidth === 'scott') return { width: scottBandwidth(values) };
  if (bandwidth === 'cross-validated') {
    const found = crossValidatedBandwidth(values, { seed });
    return { width: found.bandwidth, atEdge: found.atEdge };
  }
  if (typeof bandwidth === 'number' && bandwidth >= 1 / LARGEST && bandwidth <= LARGEST) {
    return { width: bandwidth };
  }
  throw new RangeError(
    `bandwidth ${bandwidth}: must be 'scott', 'cross-validated' or a number from 1e-150 to 1e150`,
  );
}

function bound(name, given, otherwise) {
  if (given === undefined) return otherwise;
  if (typeof given === 'number' && Math.abs(given) <= LARGEST) return given;
  throw new RangeError(`${name} ${given}: must be a number from -1e150 to 1e150`);
}

function densityAt(values, width, x) {
  const height = 1 / (values.length * width * Math.sqrt(2 * Math.PI));
  const gaussians = (at) =>
    values.reduce((sum, value) => sum + Math.exp(-(((at - value) / width) ** 2) / 2), 0);
  return x.map((at) => height * gaussians(at));
}
