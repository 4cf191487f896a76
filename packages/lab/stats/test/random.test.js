import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom, shuffled } from '../random.js';

const take = (seed, count) => Array.from({ length: count }, randomFrom(seed));

test('a seed gives the same numbers again, another seed others', () => {
  for (const seed of [0, 1, 7, 2 ** 32 - 1]) {
    assert.deepEqual(take(seed, 20), take(seed, 20));
    assert.notDeepEqual(take(seed, 20), take((seed + 1) % 2 ** 32, 20));
  }
});

test('both arms come first equally often, also in the first round', () => {
  const isControlFirst = (random) => shuffled(['control', 'treatment'], random)[0] === 'control';
  const random = randomFrom(1);
  const within = Array.from({ length: 10_000 }, () => isControlFirst(random));
  const across = Array.from({ length: 10_000 }, (_, seed) => isControlFirst(randomFrom(seed)));
  for (const firsts of [within, across]) {
    const share = firsts.filter(Boolean).length / firsts.length;
    assert.ok(share > 0.48 && share < 0.52, `${share}`);
  }
});

test('a shuffled copy has the same items, and the list stays', () => {
  const items = [1, 2, 3, 4, 5];
  assert.deepEqual([...shuffled(items, randomFrom(3))].sort(), items);
  assert.deepEqual(items, [1, 2, 3, 4, 5]);
});
