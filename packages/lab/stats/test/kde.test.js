import assert from 'node:assert/strict';
import test from 'node:test';
import { crossValidatedBandwidth, scottBandwidth } from '../bandwidth.js';
import { kde } from '../kde.js';
import { between, near, noise, relativelyNear, scipy } from './support.js';

const area = ({ x, density }) => density.reduce((sum, height) => sum + height, 0) * (x[1] - x[0]);

test('bandwidth and density are those of SciPy', () => {
  for (const { name, values, scott, x, density } of scipy.kde) {
    relativelyNear(scottBandwidth(values), scott, name);
    const curve = kde(values, { points: x.length });
    assert.equal(curve.point, null);
    curve.x.forEach((at, i) => {
      near(at, x[i], name);
    });
    curve.density.forEach((height, i) => {
      relativelyNear(height, density[i], `${name} at ${x[i]}`);
    });
  }
});

test('the cross-validated bandwidth is that of SciPy for the same folds', () => {
  for (const { name, values, seed, crossValidated } of scipy.kde) {
    relativelyNear(crossValidatedBandwidth(values, { seed }).bandwidth, crossValidated, name);
  }
});

test('the area is 1, whatever the bandwidth', () => {
  const values = noise(1).skewed(30);
  for (const bandwidth of ['scott', 'cross-validated', 0.05, 10]) {
    const curve = kde(values, { bandwidth, seed: 1, points: 2000 });
    near(area(curve), 1, `${bandwidth}`, 0.003);
  }
});

test('the curve moves and stretches with the values, and their order is no matter', () => {
  const values = noise(2).normal(20);
  for (const bandwidth of ['scott', 'cross-validated']) {
    const of = (some) => kde(some, { bandwidth, seed: 7 });
    const [curve, along] = [of(values), of(values.map((value) => 4 * value + 8))];
    curve.x.forEach((at, i) => {
      near(along.x[i], 4 * at + 8);
      relativelyNear(along.density[i], curve.density[i] / 4, bandwidth, 1e-9);
    });
    assert.deepEqual(of(values.toReversed()), curve);
  }
});

test('two peaks are seen by cross validation, and smoothed into one by the rule', () => {
  const { normal } = noise(3);
  const values = [...normal(40, 0), ...normal(40, 6)];
  const valley = (bandwidth) => {
    const { density } = kde(values, { bandwidth, seed: 1, from: 0, to: 6, points: 3 });
    return density[1] / Math.max(density[0], density[2]);
  };
  between(valley('scott'), [0.2, 1], 'by the rule');
  between(valley('cross-validated'), [0, 0.1], 'cross-validated');
});

test('of a normal sample cross validation finds about what the rule does', () => {
  const found = crossValidatedBandwidth(noise(4).normal(200), { seed: 1 });
  between(found.factor, [0.5, 2], 'factor');
  assert.equal(found.atEdge, false);
});

test('values that repeat draw it to the smallest that is tried, and it says so', () => {
  const values = noise(5).whole(60, 4);
  const { factor, atEdge } = crossValidatedBandwidth(values, { seed: 1 });
  assert.deepEqual({ factor, atEdge }, { factor: 0.125, atEdge: true });
  assert.equal(kde(values, { bandwidth: 'cross-validated', seed: 1 }).atEdge, true);
});

test('a value far from all others is no value of infinite surprise', () => {
  const { bandwidth } = crossValidatedBandwidth([1, 2, 3, 4, 5, 6, 1e9], { seed: 1 });
  assert.ok(bandwidth > 0 && Number.isFinite(bandwidth));
});

test('the seed chooses the folds', () => {
  const values = noise(6).skewed(23);
  const found = [...Array(20).keys()].map(
    (seed) => crossValidatedBandwidth(values, { seed }).factor,
  );
  assert.ok(new Set(found).size > 1, `${found}`);
});

test('without a spread there is no curve but a point', () => {
  for (const values of [[4], [4, 4, 4], [0, -0]]) {
    for (const bandwidth of ['scott', 'cross-validated']) {
      const expected = { x: [], density: [], bandwidth: 0, atEdge: false, point: values[0] };
      const { point, ...rest } = kde(values, { bandwidth, seed: 1 });
      assert.deepEqual({ ...rest, point: point + 0 }, { ...expected, point: values[0] + 0 });
    }
    const curve = kde(values, { bandwidth: 0.5 });
    near(Math.max(...curve.density), 0.797884560802865, 'of a given width', 1e-3);
  }
});

test('two arms share an axis', () => {
  const curve = kde([1, 2, 4], { from: 0, to: 10, points: 11 });
  assert.deepEqual(curve.x, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('options that cannot be are refused', () => {
  const of = (options) => () => kde([1, 2, 4], options);
  for (const bandwidth of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 'silverman', null]) {
    assert.throws(
      of({ bandwidth }),
      /^RangeError: bandwidth .*: must be 'scott', 'cross-validated'/,
    );
  }
  assert.throws(of({ bandwidth: 'cross-validated' }), /^RangeError: seed undefined/);
  assert.throws(of({ points: 1 }), /^RangeError: points 1: must be a whole number from 2 to/);
  assert.throws(of({ from: Number.NaN }), /^RangeError: from NaN: must be a number/);
  assert.throws(of({ from: 3, to: 3 }), /^RangeError: from 3 to 3: must rise/);
});
