import assert from 'node:assert/strict';
import test from 'node:test';
import { bootstrap } from '../bootstrap.js';
import { mean, median, standardDeviation } from '../spread.js';
import { between, near, noise, scipy, share } from './support.js';

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const statistics = {
  mean,
  median,
  deviation: standardDeviation,
  'difference of means': (a, b) => mean(b) - mean(a),
  'ratio of means': (a, b) => mean(b) / mean(a),
};

test('the interval is that of SciPy for the same draws', () => {
  for (const { statistic, samples, paired, seed, resamples, estimate, bca } of scipy.bootstrap) {
    const options = { seed, resamples, isPaired: paired };
    const found = bootstrap(samples, statistics[statistic], options);
    assert.equal(found.method, 'bca', statistic);
    near(found.estimate, estimate, statistic);
    near(found.lo, bca[0], `lo of ${statistic}`);
    near(found.hi, bca[1], `hi of ${statistic}`);
  }
});

test('the same seed gives the same interval, another seed nearly the same', () => {
  const values = noise(1).skewed(20);
  const one = bootstrap([values], mean, { seed: 1 });
  assert.deepEqual(bootstrap([values], mean, { seed: 1 }), one);
  const other = bootstrap([values], mean, { seed: 2 });
  assert.notEqual(other.lo, one.lo);
  near((other.lo - one.lo) / (one.hi - one.lo), 0, 'lo', 0.05);
});

test('it follows unit and shift of the values', () => {
  const values = noise(2).skewed(15);
  const { lo, hi } = bootstrap([values], mean, { seed: 3, resamples: 500 });
  const along = values.map((value) => 8 * value - 3);
  const moved = bootstrap([along], mean, { seed: 3, resamples: 500 });
  near(moved.lo, 8 * lo - 3);
  near(moved.hi, 8 * hi - 3);
});

test('the interval covers the truth in about 95 % of experiments, at any level as often as it says', () => {
  for (const [level, least, most] of [
    [0.95, 0.92, 0.97],
    [0.8, 0.76, 0.84],
  ]) {
    const { normal } = noise(50);
    const covered = share(400, (seed) => {
      const difference = (a, b) => meanOf(b) - meanOf(a);
      const samples = [normal(50), normal(45, 2, 3)];
      const { lo, hi } = bootstrap(samples, difference, { seed, level, resamples: 800 });
      return lo <= 2 && 2 <= hi;
    });
    between(covered, [least, most], `${level}`);
  }
});

test('of a skewed sample it reaches farther to the long side, and covers as often as that of SciPy', () => {
  const { skewed } = noise(30);
  const truth = Math.exp(0.32);
  let above = 0;
  const covered = share(400, (seed) => {
    const { lo, hi, estimate } = bootstrap([skewed(40)], meanOf, { seed, resamples: 800 });
    above += hi - estimate > estimate - lo ? 1 : 0;
    return lo <= truth && truth <= hi;
  });
  between(above / 400, [0.9, 1], 'reaches farther up');
  // SciPy's covers it in 90 % of a thousand.
  between(covered, [0.87, 0.94], 'covered');
});

test('10 % more is found in rounds whose own differences are greater', () => {
  const { normal } = noise(11);
  const machine = normal(20, 100, 20);
  const [a, b] = [machine, machine.map((value, i) => value * 1.1 + normal(1)[0] * (i % 3))];
  const of = (isPaired) => bootstrap([a, b], statistics['ratio of means'], { seed: 1, isPaired });
  const [paired, apart] = [of(true), of(false)];
  assert.ok(paired.lo > 1.08 && paired.lo <= 1.1 && paired.hi >= 1.1 && paired.hi < 1.12);
  assert.ok(apart.lo < 1 && apart.hi > 1.2);
});

test('where there is no interval it is the point, with the reason', () => {
  for (const [samples, statistic, reason] of [
    [[[3]], mean, 'a sample of one value'],
    [[[3], [1, 2, 4]], statistics['difference of means'], 'a sample of one value'],
    [[[3, 3, 3]], mean, 'all values of a sample are the same'],
    [[[0.1, 0.2, 0.4]], () => 3, 'the statistic is the same in every draw'],
  ]) {
    const estimate = statistic(...samples);
    const expected = { estimate, lo: estimate, hi: estimate, level: 0.95, method: 'point', reason };
    assert.deepEqual(bootstrap(samples, statistic, { seed: 1 }), expected);
  }
});

test('where BCa does not exist it is the percentile interval, with the reason', () => {
  // No draw has more different values than the sample.
  const different = [...Array(40).keys()];
  const distinct = bootstrap([different], (draw) => new Set(draw).size, { seed: 1 });
  assert.equal(distinct.method, 'percentile');
  assert.equal(distinct.reason, 'no BCa: all draws lie on one side of the estimate');
  assert.ok(distinct.lo < distinct.hi && distinct.hi < distinct.estimate);
  // Nothing changes by leaving out one of these.
  const many = [1, 1, 1, 2, 2, 2, 2, 2, 2];
  const flat = bootstrap([many], (draw) => median(draw), { seed: 1 });
  assert.deepEqual([flat.estimate, flat.method], [2, 'percentile']);
  assert.equal(flat.reason, 'no BCa: the statistic depends on no single value');
  assert.deepEqual([flat.lo, flat.hi], [1, 2]);
});

test('a statistic that gives no number is refused with the draw', () => {
  const ratio = (values) => values[0] / values[0];
  assert.throws(() => bootstrap([[0, 1]], ratio, { seed: 1 }), {
    name: 'RangeError',
    message: 'the statistic of the samples is NaN: must be a finite number',
  });
  assert.throws(
    () => bootstrap([[1, 0, 2]], (values) => 1 / Math.max(...values), { seed: 1 }),
    /^RangeError: the statistic of draw \d+ is Infinity: must be a finite number/,
  );
  assert.throws(() => bootstrap([[1, 2]], () => '3', { seed: 1 }), /is 3: must be a finite number/);
});

test('options and samples that cannot be are refused', () => {
  const of =
    (options, samples = [[1, 2]]) =>
    () =>
      bootstrap(samples, mean, options);
  assert.throws(of({}), /^RangeError: seed undefined: must be a whole number/);
  assert.throws(of({ seed: -1 }), /^RangeError: seed -1/);
  assert.throws(of({ seed: 1, level: 95 }), /^RangeError: level 95: must be above 0 and below 1/);
  assert.throws(of({ seed: 1, resamples: 10 }), /^RangeError: resamples 10: .* from 100 to/);
  assert.throws(of({ seed: 1 }, [1, 2]), /^TypeError: samples\[0\] is 1: must be an array/);
  assert.throws(of({ seed: 1 }, []), /^TypeError: samples: must be an array of one or two/);
  assert.throws(of({ seed: 1, isPaired: true }), /^RangeError: isPaired with one sample/);
  assert.throws(of({ seed: 1, isPaired: true }, [[1], [1, 2]]), /^RangeError: .*must be pairs/);
  assert.throws(() => bootstrap([[1, 2]], 'mean', { seed: 1 }), /^TypeError: statistic is of type/);
});
