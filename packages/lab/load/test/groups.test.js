import assert from 'node:assert/strict';
import test from 'node:test';
import { Groups } from '../groups.js';

/** What is told of so many bodies. */
function groupOf(count, body, { normalize, seed } = {}) {
  const groups = new Groups(normalize, seed);
  for (let i = 0; i < count; i += 1) groups.add('GET /', 200, Buffer.from(body(i)), {});
  return groups.list()[0];
}

test('bodies that are all the same have a fingerprint, that says nothing of how many they are', () => {
  const one = groupOf(1, () => 'x');
  const many = groupOf(5000, () => 'x');
  assert.equal(one.payload, many.payload);
  assert.equal(many.varies, false);
  assert.notEqual(groupOf(1, () => 'y').payload, one.payload);
});

test('one other body among the first 64 is seen, and some among many', () => {
  for (const wrong of [0, 1, 15, 33, 63]) {
    const { payload, varies } = groupOf(64, (i) => (i === wrong ? 'wrong' : 'right'));
    assert.deepEqual([payload, varies], [null, true]);
  }
  // At whatever distance they come.
  for (const every of [15, 16, 17]) {
    const { varies } = groupOf(5000, (i) => (i > 64 && i % every === 1 ? 'wrong' : 'right'));
    assert.equal(varies, true);
  }
});

test('the same seed looks at the same bodies', () => {
  const seen = (seed) =>
    Array.from(
      { length: 40 },
      (_, k) => groupOf(200, (i) => (i === 65 + k ? 'wrong' : 'right'), { seed }).varies,
    );
  assert.deepEqual(seen(7), seen(7));
  assert.notDeepEqual(seen(7), seen(8));
});

test('omitted parts make no difference', () => {
  const { payload, varies } = groupOf(100, (i) => `at ${i}`, { normalize: /\d+/ });
  assert.ok(payload !== null && !varies);
});
