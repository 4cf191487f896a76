import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gaussian } from '../normal.js';
import { randomFrom } from '../random.js';

const read = (name) =>
  JSON.parse(readFileSync(new URL(`reference/${name}`, import.meta.url), 'utf8'));

/** What SciPy and R say; the programs that wrote it lie beside it. */
export const [scipy, r] = [read('scipy.json'), read('r.json')];

/** Equal but for rounding: in so many parts of the expected value, and of 1 where that is less. */
export function near(actual, expected, what = '', tolerance = 1e-10) {
  const isNear = Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(isNear, `${what}: ${actual}, expected ${expected}`);
}

/** Equal but for rounding, however small it is. */
export function relativelyNear(actual, expected, what = '', tolerance = 1e-10) {
  const isNear = Math.abs(actual - expected) <= tolerance * Math.abs(expected);
  assert.ok(isNear, `${what}: ${actual}, expected ${expected}`);
}

export function between(value, [least, most], what = '') {
  assert.ok(value >= least && value <= most, `${what}: ${value}, expected ${least} to ${most}`);
}

/** Samples of random numbers that are the same in every run. */
export function noise(seed) {
  const random = randomFrom(seed);
  const many = (n, one) => Array.from({ length: n }, one);
  return {
    normal: (n, mean = 0, deviation = 1) => many(n, () => mean + deviation * gaussian(random)),
    skewed: (n, deviation = 0.8) => many(n, () => Math.exp(deviation * gaussian(random))),
    whole: (n, below) => many(n, () => Math.floor(random() * below)),
    uniform: (n) => many(n, random),
  };
}

/** How often something holds in experiments that are each given their number. */
export function share(experiments, holds) {
  let count = 0;
  for (let i = 0; i < experiments; i += 1) if (holds(i)) count += 1;
  return count / experiments;
}

/**
 * The most by which the share of p up to some p is above or below that p, as in the test of Kolmogorov and Smirnov;
 * only at the values that were there, as an exact p takes no others.
 */
export function distanceFromUniform(ps) {
  const sorted = Float64Array.from(ps).sort();
  let most = 0;
  sorted.forEach((p, i) => {
    // The last of equal ones.
    if (p !== sorted[i + 1]) most = Math.max(most, Math.abs((i + 1) / sorted.length - p));
  });
  return most;
}

/** What that distance exceeds in one of a thousand runs, when the p are right. */
export const uniformBound = (count) => 1.95 / Math.sqrt(count);
