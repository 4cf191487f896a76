import assert from 'node:assert/strict';
import test from 'node:test';
import { normalCdf } from '../normal.js';
import { power, smallestEffect } from '../power.js';
import { rankSum } from '../ranksum.js';
import { between, near, noise, share } from './support.js';

/** By the test itself, with other noise. */
function simulated({ n, effect, alpha = 0.05 }) {
  const { normal } = noise(99);
  return share(1000, () => {
    const { u, p } = rankSum(normal(n), normal(n, effect));
    return p <= alpha && u > (n * n) / 2;
  });
}

test('it is how often the test finds the effect', () => {
  for (const options of [
    { n: 4, effect: 2 },
    { n: 8, effect: 1.2 },
    { n: 8, effect: 1.2, alpha: 0.01 },
    { n: 15, effect: 0.9 },
    { n: 55, effect: 0.6 },
  ]) {
    const found = power({ spread: 1, seed: 1, ...options });
    near(found, simulated(options), JSON.stringify(options), 0.045);
  }
});

test('of many values it is what the efficiency 3/π of the test says', () => {
  for (const [n, effect] of [
    [50, 0.5],
    [200, 0.3],
  ]) {
    const expected = normalCdf(effect * Math.sqrt((n / 2) * (3 / Math.PI)) - 1.96);
    near(power({ n, spread: 1, effect, seed: 4 }), expected, `${n}`, 0.03);
  }
});

test('without an effect it is half of alpha: the wrong sign is no find', () => {
  for (const n of [20, 55]) {
    const found = power({ n, spread: 1, effect: 0, seed: 1, experiments: 10_000 });
    between(found, [0.021, 0.03], `${n}`);
  }
});

test('it rises with the effect, sinks with the spread, and unit and sign are no matter', () => {
  const of = (effect, spread = 1) => power({ n: 10, spread, effect, seed: 5, experiments: 500 });
  const effects = [0, 0.2, 0.5, 1, 1.5, 3];
  const rising = effects.map((effect) => of(effect));
  assert.deepEqual(
    rising,
    [...rising].sort((a, b) => a - b),
  );
  assert.ok(of(1, 2) < of(1, 1));
  assert.equal(of(64, 64), of(1));
  assert.equal(of(-1), of(1));
  assert.equal(of(20), 1);
});

test('too few values find nothing, however great the effect', () => {
  for (const n of [1, 2, 3]) {
    assert.equal(power({ n, spread: 1, effect: 100, seed: 1 }), 0);
    assert.equal(smallestEffect({ n, spread: 1, seed: 1 }), null);
  }
  assert.equal(power({ n: 4, spread: 1, effect: 100, seed: 1 }), 1);
});

test('the smallest effect is found as often as was asked, a smaller one less often', () => {
  for (const [n, wanted] of [
    [4, 0.8],
    [10, 0.8],
    [20, 0.95],
  ]) {
    const options = { n, spread: 0.03, seed: 6, experiments: 1000 };
    const effect = smallestEffect({ ...options, power: wanted });
    assert.ok(power({ ...options, effect }) >= wanted);
    assert.ok(power({ ...options, effect: effect * 0.98 }) < wanted);
    near(simulated({ n, effect: effect / 0.03 }), wanted, `${n}`, 0.05);
  }
  assert.equal(smallestEffect({ n: 10, spread: 1, seed: 1, power: 0.1, alpha: 0.5 }), 0);
  const [few, many] = [5, 40].map((n) => smallestEffect({ n, spread: 1, seed: 1 }));
  assert.ok(many < few / 2);
});

test('options that cannot be are refused', () => {
  const good = { n: 5, spread: 1, effect: 1, seed: 1 };
  for (const [wrong, message] of [
    [{ n: 0 }, /^RangeError: n 0: must be a whole number from 1 to 1000/],
    [{ n: 5.5 }, /^RangeError: n 5.5/],
    [{ n: 1001 }, /^RangeError: n 1001/],
    [{ spread: 0 }, /^RangeError: spread 0: must be a number from 1e-150/],
    [{ spread: Number.NaN }, /^RangeError: spread NaN/],
    [{ effect: Number.POSITIVE_INFINITY }, /^RangeError: effect Infinity/],
    [{ effect: undefined }, /^RangeError: effect undefined/],
    [{ seed: 0.5 }, /^RangeError: seed 0.5/],
    [{ alpha: 5 }, /^RangeError: alpha 5: must be above 0 and below 1/],
    [{ experiments: 1 }, /^RangeError: experiments 1/],
  ]) {
    assert.throws(() => power({ ...good, ...wrong }), message);
  }
  assert.throws(
    () => smallestEffect({ ...good, power: 80 }),
    /^RangeError: power 80: must be above/,
  );
});
