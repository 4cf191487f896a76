import assert from 'node:assert/strict';
import test from 'node:test';
import * as stats from '../index.js';
import { near, noise, r, scipy } from './support.js';

const quantilesOf = ({ quantiles, shares }) =>
  shares ? shares.map((share, i) => [share, quantiles[i]]) : quantiles;

test('all are those of NumPy, SciPy and R', () => {
  for (const { name, values, ...expected } of [...scipy.spread, ...r.spread]) {
    near(stats.mean(values), expected.mean, `mean of ${name}`);
    near(stats.median(values), expected.median, `median of ${name}`);
    near(stats.interquartileRange(values), expected.iqr, `range of ${name}`);
    near(stats.medianAbsoluteDeviation(values), expected.mad, `deviation from the median, ${name}`);
    for (const [share, quantile] of quantilesOf(expected)) {
      near(stats.quantile(values, share), quantile, `quantile ${share} of ${name}`);
    }
    if (expected.deviation === null) assert.equal(stats.standardDeviation(values), null);
    else near(stats.standardDeviation(values), expected.deviation, `deviation of ${name}`);
    if (expected.variation === null) assert.equal(stats.coefficientOfVariation(values), null);
    else if (expected.variation !== undefined) {
      near(stats.coefficientOfVariation(values), expected.variation, `variation of ${name}`);
    }
  }
});

test('the same values have no spread, and their mean is one of them', () => {
  for (const value of [0.1, -3, 0, 1e150, 1e-150]) {
    const values = Array(7).fill(value);
    assert.equal(stats.mean(values), value);
    assert.equal(stats.median(values), value);
    assert.equal(stats.quantile(values, 0.3), value);
    assert.equal(stats.standardDeviation(values), 0);
    assert.equal(stats.interquartileRange(values), 0);
    assert.equal(stats.medianAbsoluteDeviation(values), 0);
  }
});

test('they follow the scale, and the spread is not moved by a shift', () => {
  const values = noise(3).skewed(21);
  for (const scale of [1e-170, 0.25, 1e148]) {
    const scaled = values.map((value) => value * scale);
    for (const of of [
      stats.mean,
      stats.median,
      stats.standardDeviation,
      stats.interquartileRange,
    ]) {
      near(of(scaled) / scale, of(values), `${of.name} at ${scale}`);
    }
    near(stats.coefficientOfVariation(scaled), stats.coefficientOfVariation(values), `${scale}`);
  }
  const shifted = values.map((value) => value + 1000);
  near(stats.mean(shifted), stats.mean(values) + 1000);
  near(stats.standardDeviation(shifted), stats.standardDeviation(values));
  near(stats.medianAbsoluteDeviation(shifted), stats.medianAbsoluteDeviation(values));
});

test('a spread cannot be a share of a mean of 0, and is one of a mean below 0', () => {
  assert.equal(stats.coefficientOfVariation([-1, 1]), null);
  assert.equal(stats.coefficientOfVariation([0, 0]), null);
  assert.ok(stats.coefficientOfVariation([-1, -2]) > 0);
});

test('the values are left as they are', () => {
  const values = [3, 1, 2];
  assert.equal(stats.median(values), 2);
  assert.equal(stats.quantile(values, 1), 3);
  assert.deepEqual(values, [3, 1, 2]);
});

test('anything but a share is refused', () => {
  for (const share of [-0.01, 1.01, Number.NaN, '0.5', undefined]) {
    assert.throws(() => stats.quantile([1, 2], share), /^RangeError: share .*: must be a number/);
  }
});
