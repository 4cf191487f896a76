import assert from 'node:assert/strict';
import test from 'node:test';
import { normalCdf, normalQuantile } from '../normal.js';
import { between, near, noise, r, relativelyNear, scipy } from './support.js';

test('the share below z is that of SciPy and R, in the lower tail to its last digits', () => {
  for (const [z, expected] of [...scipy.cdf, ...r.cdf]) {
    relativelyNear(normalCdf(z), expected, `cdf(${z})`, 1e-12);
  }
});

test('the quantile is that of SciPy and R', () => {
  for (const [share, expected] of [...scipy.quantile, ...r.quantile]) {
    near(normalQuantile(share), expected, `quantile(${share})`, 1e-13);
  }
});

test('one is the inverse of the other, from the least number that there is', () => {
  for (let share = Number.MIN_VALUE; share < 0.5; share *= 1.7 + share) {
    const digits = share < 1e-307 ? 1e-2 : 1e-12;
    relativelyNear(normalCdf(normalQuantile(share)), share, `${share}`, digits);
  }
  for (let z = -8; z <= 5; z += 0.037) near(normalQuantile(normalCdf(z)), z, `${z}`, 1e-9);
});

test('both are symmetric, and rise where the series meets the fraction', () => {
  for (const z of [0, 0.3, 1.9999, 2, 2.0001, 5]) {
    near(normalCdf(-z) + normalCdf(z), 1, `${z}`, 1e-15);
  }
  for (const share of [0.01, 0.25, 0.375]) {
    assert.equal(normalQuantile(1 - share), -normalQuantile(share));
  }
  let before = 0;
  for (let z = -2.001; z < -1.999; z += 1e-6) {
    const now = normalCdf(z);
    assert.ok(now > before, `${z}`);
    before = now;
  }
});

test('the ends', () => {
  assert.equal(normalCdf(Number.NEGATIVE_INFINITY), 0);
  assert.equal(normalCdf(Number.POSITIVE_INFINITY), 1);
  assert.equal(normalQuantile(0), Number.NEGATIVE_INFINITY);
  assert.equal(normalQuantile(1), Number.POSITIVE_INFINITY);
  assert.equal(Math.abs(normalQuantile(0.5)), 0);
});

test('random numbers have this distribution', () => {
  const all = noise(2).normal(20_000);
  for (const z of [-2.5, -1, -0.2, 0, 0.7, 1.96]) {
    const below = all.filter((each) => each < z).length / all.length;
    between(below - normalCdf(z), [-0.012, 0.012], `below ${z}`);
  }
});

test('anything but a z or a share is refused', () => {
  for (const z of [Number.NaN, '1', null, undefined]) {
    assert.throws(() => normalCdf(z), { name: 'TypeError', message: `z ${z}: must be a number` });
  }
  for (const share of [-0.1, 1.1, Number.NaN, '0.5', undefined]) {
    assert.throws(
      () => normalQuantile(share),
      /^RangeError: share .*: must be a number from 0 to 1/,
    );
  }
});
