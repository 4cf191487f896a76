import assert from 'node:assert/strict';
import test from 'node:test';
import { pairedRatio, pairedShift, ratio, shift } from '../shift.js';
import { between, near, noise, r, share } from './support.js';

function compare(of, cases) {
  for (const { name, control, treatment, asked, ...expected } of cases) {
    const found = of(control, treatment, { level: asked });
    near(found.estimate, expected.shift, `estimate, ${name}`);
    if (found.method === 'exact') {
      near(found.lo, expected.lo, `lo, ${name}`);
      near(found.hi, expected.hi, `hi, ${name}`);
      near(found.level, expected.level < asked ? expected.level : found.level, `level, ${name}`);
    } else {
      // R looks for the root of another approximation; it lies between the same two differences or the next.
      const width = expected.hi - expected.lo;
      near((found.lo - expected.lo) / width, 0, `lo, ${name}`, 0.01);
      near((found.hi - expected.hi) / width, 0, `hi, ${name}`, 0.01);
    }
  }
}

test('estimate and interval are those of R', () => compare(shift, r.twoSamples));

test('estimate and interval of pairs are those of R', () => compare(pairedShift, r.paired));

test('with ties the estimate is the median of all differences', () => {
  for (const each of r.tied)
    near(shift(each.control, each.treatment).estimate, each.shift, each.name);
});

test('arms that are swapped have the same shift with the other sign, and the inverse ratio', () => {
  const { skewed } = noise(1);
  for (const [n, m] of [
    [1, 1],
    [4, 7],
    [20, 20],
    [60, 50],
  ]) {
    const [a, b] = [skewed(n), skewed(m)];
    const [one, other] = [shift(a, b), shift(b, a)];
    near(other.estimate, -one.estimate);
    near(other.lo, -one.hi);
    near(other.hi, -one.lo);
    near(ratio(b, a).estimate, 1 / ratio(a, b).estimate);
    near(ratio(b, a).lo, 1 / ratio(a, b).hi);
  }
  const [a, b] = [skewed(9), skewed(9)];
  near(pairedShift(b, a).lo, -pairedShift(a, b).hi);
  near(pairedRatio(b, a).estimate, 1 / pairedRatio(a, b).estimate);
});

test('a shift follows the unit, a ratio does not', () => {
  const { skewed } = noise(2);
  const [a, b] = [skewed(12), skewed(12)];
  const scaled = (values) => values.map((value) => value * 1000);
  for (const of of [shift, pairedShift]) {
    const moved = b.map((value) => value + 5);
    near(of(a, moved).lo, of(a, b).lo + 5, of.name);
    near(of(scaled(a), scaled(b)).hi, of(a, b).hi * 1000, of.name);
  }
  for (const of of [ratio, pairedRatio]) {
    const doubled = b.map((value) => value * 2);
    near(of(a, doubled).lo, of(a, b).lo * 2, of.name);
    near(of(scaled(a), scaled(b)).hi, of(a, b).hi, of.name);
  }
});

test('the interval covers the truth as often as it says', () => {
  for (const [of, n, m, experiments] of [
    [shift, 6, 6, 2000],
    [shift, 12, 9, 1000],
    [shift, 51, 52, 200],
    [pairedShift, 8, 8, 2000],
    [pairedShift, 20, 20, 1000],
    [pairedShift, 101, 101, 200],
  ]) {
    const { normal } = noise(n + m);
    let level;
    const covered = share(experiments, () => {
      const found = of(normal(n), normal(m, 0.7));
      level = found.level;
      return found.lo <= 0.7 && 0.7 <= found.hi;
    });
    const bound = 3.3 * Math.sqrt((0.95 * 0.05) / experiments);
    between(covered - level, [-bound, bound], `${of.name} of ${n} and ${m}`);
    between(level, [0.95, 0.97], `level of ${n} and ${m}`);
  }
});

test('10 % more is found, in an interval that covers 10 % and not 0', () => {
  for (const of of [ratio, pairedRatio]) {
    const { normal } = noise(12);
    let found;
    const covered = share(600, () => {
      found = of(normal(20, 100, 3), normal(20, 110, 3.3));
      assert.ok(found.lo > 1, `${of.name}: ${found.lo}`);
      return found.lo <= 1.1 && 1.1 <= found.hi;
    });
    between(covered, [0.92, 0.98], of.name);
    between(found.estimate, [1.07, 1.13], of.name);
  }
});

test('too few values have the widest interval that there is, and it says of which level', () => {
  const three = shift([1, 2, 3], [11, 13, 17]);
  assert.deepEqual([three.lo, three.hi], [8, 16]);
  near(three.level, 0.9);
  assert.equal(three.reason, 'too few values for an interval of 95 %: the widest is of 90 %');
  const one = shift([1], [3]);
  assert.deepEqual([one.estimate, one.lo, one.hi, one.level], [2, 2, 2, 0]);
  near(pairedShift([1, 1, 1], [2, 3, 5]).level, 0.75);
  assert.equal(shift([1, 2, 3, 4], [5, 6, 7, 8]).reason, null);
});

test('differences that are all the same are an interval of no width, and it says so', () => {
  for (const of of [shift, pairedShift]) {
    const { estimate, lo, hi, reason } = of(Array(9).fill(2), Array(9).fill(2.5));
    assert.deepEqual([estimate, lo, hi], [0.5, 0.5, 0.5]);
    assert.equal(reason, 'all differences within the interval are the same');
  }
});

test('a value without a logarithm has no ratio', () => {
  for (const wrong of [0, -1, 1e-200]) {
    const message = `treatment[1] is ${wrong}: must be above 0 (1e-150 or more) for a ratio`;
    assert.throws(() => ratio([1, 2], [1, wrong]), { name: 'RangeError', message });
    assert.throws(() => pairedRatio([1, 2], [1, wrong]), { name: 'RangeError', message });
  }
  const huge = ratio([1e-150], [1e150]).estimate;
  assert.ok(huge > 9e299 && huge < 1.1e300, `${huge}`);
});

test('a wrong level and more differences than fit are refused', () => {
  for (const level of [0, 1, 95, Number.NaN, '0.95']) {
    assert.throws(
      () => shift([1, 2], [3, 4], { level }),
      /^RangeError: level .* above 0 and below 1/,
    );
  }
  const many = new Float64Array(4000);
  assert.throws(() => shift(many, many), /^RangeError: 16000000 differences: must be 10000000/);
  assert.throws(
    () => pairedShift(Array(5000).fill(1), Array(5000).fill(1)),
    /differences: must be/,
  );
});
