import assert from 'node:assert/strict';
import test from 'node:test';
import * as stats from '../index.js';

const ofOne = {
  ...{ mean: stats.mean, median: stats.median, standardDeviation: stats.standardDeviation },
  interquartileRange: stats.interquartileRange,
  medianAbsoluteDeviation: stats.medianAbsoluteDeviation,
  coefficientOfVariation: stats.coefficientOfVariation,
  quantile: (values) => stats.quantile(values, 0.5),
  scottBandwidth: stats.scottBandwidth,
  crossValidatedBandwidth: (values) => stats.crossValidatedBandwidth(values, { seed: 1 }),
  kde: stats.kde,
};

const ofPairs = {
  signedRank: stats.signedRank,
  pairedShift: stats.pairedShift,
  pairedRatio: stats.pairedRatio,
};

const ofTwo = {
  ...ofPairs,
  ...{ rankSum: stats.rankSum, shift: stats.shift, ratio: stats.ratio },
  cliffsDelta: stats.cliffsDelta,
};

/** Each with a sample in each of its places, the others good. */
const all = [
  ...Object.entries(ofOne),
  ...Object.entries(ofTwo).flatMap(([name, of]) => [
    [`${name}, control`, (values) => of(values, [1, 2, 3])],
    [`${name}, treatment`, (values) => of([1, 2, 3], values)],
  ]),
];

test('anything but a finite number is refused, with its place', () => {
  for (const [name, of] of all) {
    for (const wrong of ['2', null, undefined, 2n, {}, true]) {
      const error = { name: 'TypeError', message: /\[1\] is ('2'|\w+|{}): must be a number$/ };
      assert.throws(() => of([1, wrong, 3]), error, `${name}: ${wrong}`);
    }
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -1e151]) {
      const message = new RegExp(
        `\\[2\\] is ${wrong}: must be a finite number from`.replace('+', '\\+'),
      );
      assert.throws(() => of([1, 2, wrong]), { name: 'RangeError', message }, `${name}: ${wrong}`);
    }
  }
});

test('anything but a sample, and an empty one, is refused', () => {
  for (const [name, of] of all) {
    for (const wrong of [undefined, null, 3, '1,2', new Set([1]), { length: 1, 0: 1 }]) {
      assert.throws(() => of(wrong), { name: 'TypeError', message: /must be an array/ }, name);
    }
    assert.throws(() => of([]), { name: 'RangeError', message: /has 0 values: must have 1/ }, name);
    // A hole is no value.
    assert.throws(() => of(Array(2)), { name: 'TypeError', message: /\[0\] is undefined/ }, name);
  }
});

test('pairs must be pairs', () => {
  for (const of of Object.values(ofPairs)) {
    const message = 'control has 3 values, treatment 2: must be pairs';
    assert.throws(() => of([1, 2, 3], [1, 2]), { name: 'RangeError', message });
  }
});

test('typed arrays are samples too', () => {
  assert.equal(stats.median(Int32Array.of(3, 1, 2)), 2);
  assert.equal(stats.rankSum(Float64Array.of(1, 2), Float32Array.of(3, 4)).u, 4);
  assert.throws(() => stats.median(new DataView(new ArrayBuffer(8))), TypeError);
  assert.throws(() => stats.median(BigInt64Array.of(1n)), /\[0\] is 1n: must be a number/);
});

test('no result has anything that is not a finite number, however few or alike the values are', () => {
  const some = [[1], [1, 1], [1, 2], [1, 1, 1], [1, 1, 2], [1e-150, 1e150], [1e150, 1e150, 1e149]];
  const check = (name, value) => {
    if (typeof value === 'number') assert.ok(Number.isFinite(value), `${name}: ${value}`);
    else if (typeof value === 'object') {
      for (const each of Object.values(value ?? {})) check(name, each);
    }
  };
  for (const values of some) {
    for (const [name, of] of Object.entries(ofOne)) check(`${name} of ${values}`, of(values));
    for (const other of some) {
      for (const [name, of] of Object.entries(ofTwo)) {
        if (name in ofPairs && values.length !== other.length) continue;
        check(`${name} of ${values} and ${other}`, of(values, other));
      }
    }
  }
});

test('the samples are left as they are', () => {
  for (const [name, of] of all) {
    const values = [3, 1, 2];
    of(values);
    assert.deepEqual(values, [3, 1, 2], name);
  }
});
