import assert from 'node:assert/strict';
import test from 'node:test';
import { rankSum } from '../ranksum.js';
import {
  between,
  distanceFromUniform,
  near,
  noise,
  r,
  relativelyNear,
  scipy,
  share,
  uniformBound,
} from './support.js';

test('statistic and p are those of SciPy, and with ties those of all divisions', () => {
  for (const { name, control, treatment, ...expected } of scipy.rankSum) {
    const found = rankSum(control, treatment);
    assert.equal(found.u, expected.u, name);
    assert.equal(found.method, expected.method, name);
    relativelyNear(found.p, expected.p, name);
  }
});

test('statistic and p are those of R', () => {
  for (const { name, control, treatment, u, p } of r.twoSamples) {
    const found = rankSum(control, treatment);
    assert.equal(found.u, u, name);
    relativelyNear(found.p, p, name);
  }
});

test('arms that are swapped have the same p, and the statistic turned round', () => {
  for (const { name, control, treatment } of scipy.rankSum) {
    const [one, other] = [rankSum(control, treatment), rankSum(treatment, control)];
    assert.equal(one.u + other.u, control.length * treatment.length, name);
    relativelyNear(other.p, one.p, name, 1e-12);
  }
});

test('whatever keeps the order keeps the p', () => {
  for (const { name, control, treatment } of scipy.rankSum) {
    const { p } = rankSum(control, treatment);
    const along = (f) => rankSum(control.map(f), treatment.map(f)).p;
    for (const f of [(x) => 8 * x, (x) => x / 2 ** 40, (x) => Math.sinh(x / 10), (x) => -x]) {
      relativelyNear(along(f), p, `${name}, ${f}`, 1e-12);
    }
    const [shuffledControl, shuffledTreatment] = [control.toReversed(), treatment.toReversed()];
    relativelyNear(rankSum(shuffledControl, shuffledTreatment).p, p, name, 1e-12);
  }
});

test('both methods agree where one takes over from the other', () => {
  const { skewed, whole } = noise(8);
  for (const [control, treatment] of [
    [skewed(50), skewed(51)],
    [skewed(50), skewed(51).map((value) => value * 1.5)],
    [whole(50, 12), whole(51, 15)],
  ]) {
    const approximate = rankSum(control, treatment);
    const exact = rankSum(control, treatment.slice(1));
    assert.deepEqual([approximate.method, exact.method], ['normal', 'exact']);
    // One value more moves it a little.
    near(approximate.p, exact.p, 'p', 0.05);
  }
});

test('p is uniform where there is no difference', () => {
  for (const [n, m, experiments] of [
    [5, 5, 3000],
    [8, 13, 2000],
    [20, 20, 500],
    [51, 60, 1000],
  ]) {
    const { skewed } = noise(n);
    const ps = Array.from({ length: experiments }, () => rankSum(skewed(n), skewed(m)).p);
    between(distanceFromUniform(ps), [0, uniformBound(experiments)], `${n} and ${m}`);
  }
});

test('ties do not make it find more than by chance, nor much less', () => {
  for (const [n, below] of [
    [10, 4],
    [51, 5],
  ]) {
    const { whole } = noise(below);
    const found = share(2000, () => rankSum(whole(n, below), whole(n, below)).p <= 0.05);
    between(found, [0.03, 0.06], `${n} from ${below} values`);
  }
});

test('values that are all the same differ in nothing, and it says so', () => {
  for (const n of [1, 4, 60]) {
    const { p, u, reason } = rankSum(Array(n).fill(7), Array(n).fill(7));
    assert.deepEqual({ p, u }, { p: 1, u: (n * n) / 2 });
    assert.equal(reason, 'all values are the same');
  }
  assert.equal(rankSum([0], [-0]).p, 1, '0 and -0 are the same');
  assert.equal(rankSum([1, 1], [2, 2]).reason, null);
});

test('ties are counted', () => {
  assert.equal(rankSum([1, 2, 3], [4, 5]).ties, 0);
  assert.equal(rankSum([1, 2, 2], [2, 5, 5]).ties, 5);
});
