import assert from 'node:assert/strict';
import test from 'node:test';
import { parallelShare, speedup } from '../lib/amdahl.js';

test("Amdahl's law, all of the denominator in brackets", () => {
  const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}`);
  near(speedup(0.75, 4), 1 / 0.4375);
  near(speedup(0.8, 4), 2.5);
  near(speedup(0.75, 8), 1 / 0.34375);
  near(speedup(0.8, 8), 10 / 3);
});

test('nothing to divide brings nothing, and all of it as much as there are processors', () => {
  for (const processors of [1, 2, 8, 1000]) {
    assert.equal(speedup(0, processors), 1);
    assert.equal(speedup(1, processors), processors);
  }
  assert.equal(speedup(0.5, 1), 1);
});

test('what cannot be divided bounds it', () => {
  for (const share of [0.1, 0.5, 0.9]) {
    let before = 0;
    for (let processors = 1; processors < 10_000; processors *= 2) {
      const now = speedup(share, processors);
      assert.ok(now > before && now < 1 / (1 - share));
      before = now;
    }
  }
});

test('the share that explains a speed-up is the one that it comes from', () => {
  for (const share of [0, 0.3, 0.75, 1]) {
    for (const processors of [2, 3, 64]) {
      const found = parallelShare(speedup(share, processors), processors);
      assert.ok(Math.abs(found - share) < 1e-12, `${found} for ${share}`);
    }
  }
  assert.ok(parallelShare(2.2, 2) > 1, 'faster than two processors can be');
  assert.ok(parallelShare(0.9, 2) < 0, 'slower than one');
});

test('what is no share and no number of processors is refused', () => {
  for (const share of [-0.1, 1.1, Number.NaN, '0.5x']) {
    assert.throws(() => speedup(share, 2), /share .*: must be from 0 to 1/);
  }
  for (const processors of [0, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => speedup(0.5, processors), /processors .*: must be a number from 1/);
    assert.throws(() => parallelShare(1.5, processors), /processors .*: must be a number from 1/);
  }
  assert.throws(() => parallelShare(1.5, 1), /nothing can be told from one/);
  assert.throws(() => parallelShare(0, 2), /measured 0: must be above 0/);
});
