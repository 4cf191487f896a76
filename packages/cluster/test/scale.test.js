import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { calm, nextCount } from '../dist/scaling.js';

const options = { min: 1, max: 8, scaleUp: 0.7, scaleDown: 0.4 };

/** The counts that a load, in processes that are fully busy, leads to, sample by sample. */
function counts(load, samples, from = 1, limits = options) {
  let count = from;
  let state = calm;
  return Array.from({ length: samples }, () => {
    const each = Math.min(1, load / count);
    ({ count, state } = nextCount(Array(count).fill(each), limits, state));
    return count;
  });
}

test('two busy samples in a row are needed for more', () => {
  assert.deepEqual(counts(1, 2), [1, 2]);
  const one = nextCount([1], options, calm);
  const lull = nextCount([0.5], options, one.state);
  assert.equal(nextCount([1], options, lull.state).count, 1);
});

test('it grows by what the load needs, not only by one', () => {
  // Six loops at their limit: ten would be at 0.55, and eight are allowed.
  assert.equal(counts(6, 2, 6).at(-1), 8);
  assert.equal(counts(3, 2, 3).at(-1), 6);
});

test('ten samples with room to spare are needed for one fewer', () => {
  assert.deepEqual(counts(0.5, 10, 3).slice(8), [3, 2]);
});

test('a load that would make the others busy keeps its process', () => {
  // One process would be at 0.6.
  assert.deepEqual(new Set(counts(0.6, 100, 2)), new Set([2]));
});

for (const seed of seeds(1)) {
  test(`a steady load is settled on, within the limits, seed ${seed}`, () => {
    const random = randomNumbers(seed);
    for (let i = 0; i < 300; i++) {
      const min = 1 + random(4);
      const max = min + random(12);
      const scaleUp = (20 + random(81)) / 100;
      const scaleDown = (scaleUp * random(100)) / 100;
      const limits = { min, max, scaleUp, scaleDown };
      const from = min + random(max - min + 1);
      const path = counts((random(200) / 100) * max, 400, from, limits);
      const what = JSON.stringify({ ...limits, from });
      assert.ok(
        path.every((count) => count >= min && count <= max),
        what,
      );
      const end = path.slice(-50);
      assert.equal(new Set(end).size, 1, `${what}: ${end}`);
    }
  });
}
