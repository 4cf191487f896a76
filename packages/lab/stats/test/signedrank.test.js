import assert from 'node:assert/strict';
import test from 'node:test';
import { rankSum } from '../ranksum.js';
import { signedRank } from '../signedrank.js';
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

test('statistic and p are those of SciPy, and with ties those of all signs', () => {
  for (const { name, control, treatment, ...expected } of scipy.signedRank) {
    const found = signedRank(control, treatment);
    assert.equal(found.w, expected.w, name);
    assert.equal(found.method, expected.method, name);
    relativelyNear(found.p, expected.p, name);
  }
});

test('statistic and p are those of R', () => {
  for (const { name, control, treatment, w, p } of r.paired) {
    const found = signedRank(control, treatment);
    assert.equal(found.w, w, name);
    relativelyNear(found.p, p, name);
  }
});

test('arms that are swapped have the same p, and the statistic turned round', () => {
  for (const { name, control, treatment } of scipy.signedRank) {
    const [one, other] = [signedRank(control, treatment), signedRank(treatment, control)];
    const n = control.length - one.zeros;
    assert.equal(one.w + other.w, (n * (n + 1)) / 2, name);
    relativelyNear(other.p, one.p, name, 1e-12);
  }
});

test('scale and order of the rounds are no matter', () => {
  for (const { name, control, treatment } of scipy.signedRank) {
    const { p } = signedRank(control, treatment);
    const scaled = [control, treatment].map((arm) => arm.map((value) => value * 2 ** -20));
    relativelyNear(signedRank(...scaled).p, p, name, 1e-12);
    relativelyNear(signedRank(control.toReversed(), treatment.toReversed()).p, p, name, 1e-12);
  }
});

test('both methods agree where one takes over from the other', () => {
  const { normal } = noise(9);
  const [control, treatment] = [normal(101), normal(101, 0.2)];
  const approximate = signedRank(control, treatment);
  const exact = signedRank(control.slice(1), treatment.slice(1));
  assert.deepEqual([approximate.method, exact.method], ['normal', 'exact']);
  near(approximate.p, exact.p, 'p', 0.05);
});

test('p is uniform where there is no difference', () => {
  for (const [n, experiments] of [
    [6, 4000],
    [15, 3000],
    [120, 1000],
  ]) {
    const { normal } = noise(n);
    const ps = Array.from({ length: experiments }, () => signedRank(normal(n), normal(n)).p);
    between(distanceFromUniform(ps), [0, uniformBound(experiments)], `${n}`);
  }
});

test('effects that the arms of a round share do not hide a difference from it, but from the rank-sum test', () => {
  const { normal } = noise(4);
  const found = (of) =>
    share(200, () => {
      const machine = normal(15, 100, 20);
      const [a, b] = [normal(15), normal(15, 2)];
      const add = (arm) => arm.map((value, round) => value + machine[round]);
      return of(add(a), add(b)).p <= 0.05;
    });
  between(found(signedRank), [0.95, 1], 'signed ranks');
  between(found(rankSum), [0, 0.1], 'rank sum');
});

test('rounds without a difference are left out, and none left is no difference', () => {
  const some = signedRank([1, 5, 2, 8, 3], [2, 5, 4, 8, 6]);
  assert.deepEqual(some, { ...signedRank([1, 2, 3], [2, 4, 6]), zeros: 2 });
  const none = signedRank([1, 2], [1, 2]);
  assert.deepEqual([none.p, none.w, none.zeros, none.reason], [1, 0, 2, 'no pair differs']);
});
