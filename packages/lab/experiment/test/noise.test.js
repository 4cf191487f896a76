import assert from 'node:assert/strict';
import test from 'node:test';
import { signedRank } from '../../stats/index.js';
import { gaussian } from '../../stats/normal.js';
import { randomFrom } from '../../stats/random.js';
import {
  detectable,
  ratioSpread,
  roundsFor,
  roundsForRatio,
  smallestRatio,
  twinFigure,
} from '../figure.js';

const EXPERIMENTS = 600;

test('the promised effect is found in 4 of 5 experiments', () => {
  const random = randomFrom(5);
  for (const rounds of [6, 7, 12, 13, 25]) {
    const effect = detectable(rounds);
    const zeros = Array(rounds).fill(0);
    let found = 0;
    for (let i = 0; i < EXPERIMENTS; i += 1) {
      const { p, w } = signedRank(
        zeros,
        zeros.map(() => effect + gaussian(random)),
      );
      if (p <= 0.05 && w > (rounds * (rounds + 1)) / 4) found += 1;
    }
    const share = found / EXPERIMENTS;
    assert.ok(share > 0.745 && share < 0.855, `${share} of experiments with ${rounds} rounds`);
  }
});

test('fewer than six rounds show nothing, however much there is', () => {
  assert.equal(detectable(5), null);
  assert.equal(smallestRatio(0.01, 5), null);
  assert.equal(roundsFor(1000), 6);
});

test('rounds that are needed for an effect are those that show it', () => {
  for (const effect of [2, 1.5, 1, 0.9, 0.5, 0.2, 0.05]) {
    const rounds = roundsFor(effect);
    assert.ok(detectable(rounds) <= effect * 1.005, `${rounds} for ${effect}`);
    if (rounds > 6) assert.ok(detectable(rounds - 1) > effect * 0.99, `${rounds} for ${effect}`);
  }
});

test('the noise is that of the ratios of a round, whatever all of a round share', () => {
  const [control, twin] = [
    [100, 10, 1000],
    [101, 10, 990],
  ];
  const spread = ratioSpread(control, twin);
  assert.ok(spread > 0.009 && spread < 0.011, `${spread}`);
  assert.equal(ratioSpread([1], [2]), null, 'one round');
  assert.equal(ratioSpread([], []), null, 'none');
  assert.equal(ratioSpread([0, 1], [1, 1]), null, 'no ratio');
  assert.equal(ratioSpread([1, 2], [2, 4]), 0);
  assert.equal(smallestRatio(0, 6), 1);
  assert.equal(roundsForRatio(0, 1.05), 6);
  assert.equal(roundsForRatio(0.1, 1), null, 'nothing shows no effect');
  assert.equal(roundsForRatio(0.1, 1.05), roundsForRatio(0.1, 1 / 1.05));
});

test('A/A says by how much the twin differs, and how sure that is', () => {
  const control = [10, 11, 12, 13, 14, 15];
  const same = twinFigure(control, control);
  assert.deepEqual(same, { ahead: 1, lo: 1, hi: 1, p: 1, medians: [12.5, 12.5] });
  const other = twinFigure(
    control,
    control.map((value) => value * 1.5),
  );
  assert.ok(Math.abs(other.ahead - 1.5) < 1e-9 && other.p <= 0.05, JSON.stringify(other));
  assert.equal(twinFigure([0, 0], [0, 0]).ahead, null);
});
