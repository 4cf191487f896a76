import assert from 'node:assert/strict';
import test from 'node:test';
import { cliffsDelta } from '../effect.js';
import { near, noise, r } from './support.js';

test('delta is the mean of the signs, as R counts them', () => {
  for (const { name, control, treatment, delta } of [...r.twoSamples, ...r.tied]) {
    near(cliffsDelta(control, treatment).delta, delta, name);
  }
});

test('it goes from one end to the other', () => {
  assert.deepEqual(cliffsDelta([1, 2], [3, 4]), { delta: 1, word: 'large' });
  assert.deepEqual(cliffsDelta([3, 4], [1, 2]), { delta: -1, word: 'large' });
  assert.deepEqual(cliffsDelta([3, 3], [3, 3]), { delta: 0, word: 'negligible' });
  assert.deepEqual(cliffsDelta([1], [1]), { delta: 0, word: 'negligible' });
});

test('arms that are swapped turn its sign', () => {
  const { normal, whole } = noise(6);
  for (const [a, b] of [
    [normal(9), normal(14, 0.5)],
    [whole(60, 7), whole(50, 8)],
  ]) {
    const [one, other] = [cliffsDelta(a, b), cliffsDelta(b, a)];
    near(other.delta, -one.delta);
    assert.equal(other.word, one.word);
  }
});

test('the words change where Romano et al. let them', () => {
  // So many of a thousand are above the other arm's one value, the others below.
  const word = (above) => {
    const treatment = Array.from({ length: 1000 }, (_, i) => (i < above ? 1 : -1));
    return cliffsDelta([0], treatment).word;
  };
  const words = [500, 573, 574, 664, 665, 736, 737, 1000].map(word);
  const expected = ['negligible', 'small', 'medium', 'large'].flatMap((each) => [each, each]);
  assert.deepEqual(words, expected);
  assert.deepEqual([427, 426, 336, 335, 264, 263].map(word), expected.slice(1, -1));
});
