// The policies as the pure functions that they are: tables of loads and holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { complete, defaults } from '../../dist/engine/options.js';
import { fixed, leastCostHold } from '../../dist/engine/policy.js';

const idle = { utilization: 0, rate: 1, total: 1, batchCost: 0.45, holdCost: 0.05 };
const hold = (load, options) =>
  leastCostHold({ ...idle, ...load }, { ...defaults, maxDelay: 1000, ...options });

test('fixed holds for maxDelay', () => {
  for (const maxDelay of [0, 1, 50, 60_000])
    assert.equal(fixed({ ...defaults, maxDelay }), maxDelay);
});

test('fixed has a default delay of its own, which a given one replaces', () => {
  assert.equal(complete({ policy: 'fixed' }).maxDelay, 50);
  assert.equal(complete({ policy: 'fixed', maxDelay: 0 }).maxDelay, 0);
  assert.equal(complete({}).maxDelay, 0);
});

for (const [load, options, expected] of [
  [{}, {}, 9],
  [{ utilization: 0.5 }, {}, 19],
  [{ utilization: 1 }, {}, 1000],
  [{}, { maxDelay: 5 }, 5],
  [{}, { minSaving: 0 }, 1000],
  [{}, { minSaving: 0.02 }, 4],
  [{}, { minSaving: 1 }, 0],
  [{ total: 4, rate: 0.25, batchCost: 0.496875 }, {}, 36],
  [{ batchCost: 0 }, {}, 0],
  [{ rate: 0 }, {}, 0],
  [{ total: 0 }, {}, 0],
  [{}, { maxDelay: 0 }, 0],
  [{ holdCost: 10 }, {}, 0],
]) {
  const words = JSON.stringify({ ...load, ...options });
  test(`adaptive holds for ${expected} ms with ${words}`, () => {
    assert.ok(Math.abs(hold(load, options) - expected) < 1e-9, `${hold(load, options)}`);
  });
}

/** Total that the law minimises, in cores: CPU time for batches, and the price of the delay. */
function cost(h, { utilization, rate, total, batchCost, holdCost }, minSaving) {
  const hold = h === 0 ? 0 : (total * holdCost) / (1 + total * h);
  return (total * batchCost) / (1 + rate * h) + hold + minSaving * (1 - utilization) ** 2 * h;
}

test('no hold within maxDelay costs 5 % less than the chosen one, and none costs less where all events are of one type', () => {
  for (const seed of seeds(300)) {
    const random = randomNumbers(seed);
    const between = (low, high) => 10 ** (low + (random(1000) / 1000) * (high - low));
    const rate = between(-3, 4);
    const load = {
      utilization: random(11) / 10,
      rate,
      total: seed % 2 === 0 ? rate : rate * between(0, 3),
      batchCost: between(-4, 1),
      holdCost: random(3) === 0 ? 0 : between(-3, -1),
    };
    const options = { maxDelay: between(-1, 4), minSaving: random(4) === 0 ? 0 : between(-4, 0) };
    const chosen = hold(load, options);
    assert.ok(chosen >= 0 && chosen <= options.maxDelay, `seed ${seed}: ${chosen}`);
    const least = cost(chosen, load, options.minSaving);
    for (let share = 0; share <= 1; share += 1 / 64) {
      const other = cost(options.maxDelay * share ** 4, load, options.minSaving);
      const tolerance = load.total === rate ? 1e-9 : 0.05;
      assert.ok(other >= least * (1 - tolerance), `seed ${seed}: ${other} is less than ${least}`);
    }
  }
});

test('every load has a hold within maxDelay, whatever is no number in it', () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e-300, 0.001, 1e7, 1e300];
  for (const name of Object.keys(idle)) {
    for (const value of values) {
      const chosen = hold({ [name]: value }, { maxDelay: 20 });
      assert.ok(chosen >= 0 && chosen <= 20, `${name} ${value}: ${chosen}`);
    }
  }
});
