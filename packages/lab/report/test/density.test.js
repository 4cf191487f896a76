/** Bandwidths of the density charts: Scott's rule is drawn, five-fold cross validation beside it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseHTML } from 'linkedom';
import { randomFrom, shuffled } from '../../stats/random.js';
import { noise } from '../../stats/test/support.js';
import { density, FEWEST } from '../charts/density.js';
import { renderHtml } from '../index.js';
import { quantity } from '../numbers.js';
import { sampleResults } from './sample.js';

const CONTROL = { role: 'control', name: 'a', title: 'a', style: 'control' };
const TWIN = { role: 'twin', name: 'a', title: 'a, once more', style: 'twin' };
const TREATMENT = { role: 'treatment', name: 'b', title: 'b', style: 'arm-1' };

const bandwidthsOf = (values) =>
  density('', [{ arm: CONTROL, values }]).bandwidths.map(({ scott, crossValidated }) => ({
    scott,
    crossValidated,
  }));

/** Lines of a drawing: one for each arm, and the thin ones. */
const linesOf = ({ drawing }) =>
  parseHTML(`${drawing}`).document.querySelectorAll('[aria-label="line"]').length;

/** Two humps, far from each other as a share of their width. */
const twoPeaks = (seed, count) => {
  const { normal } = noise(seed);
  return [...normal(count, 100), ...normal(count, 112)];
};

/** The rule by its formula: s · n^(-1/5), s² being the sum of squares by n - 1. */
function ruleOf(values) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (n - 1)) / n ** 0.2;
}

/** Cross validation as it is defined: the product of the densities that each value has by the values of other folds. */
function validatedOf(values) {
  const mixed = shuffled(
    [...values].sort((a, b) => a - b),
    randomFrom(1),
  );
  const scott = ruleOf(values);
  let best = { likelihood: -1, bandwidth: 0 };
  for (let i = 0; i <= 20; i += 1) {
    const bandwidth = scott * 2 ** (i / 4 - 3);
    let likelihood = 1;
    mixed.forEach((value, at) => {
      const others = mixed.filter((_, j) => j % 5 !== at % 5);
      const gaussians = others.map((other) => Math.exp(-(((value - other) / bandwidth) ** 2) / 2));
      const sum = gaussians.reduce((total, each) => total + each, 0);
      likelihood *= sum / (others.length * bandwidth * Math.sqrt(2 * Math.PI));
    });
    if (likelihood > best.likelihood) best = { likelihood, bandwidth };
  }
  return best.bandwidth;
}

const isClose = (actual, expected) =>
  assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual}, expected ${expected}`);

describe('bandwidths of a chart', () => {
  test('are those of the formulas', () => {
    // 1 to 32 have a variance of 32 · 33 / 12 = 88, and 32^(-1/5) is a half.
    const whole = Array.from({ length: 32 }, (_, i) => i + 1);
    isClose(bandwidthsOf(whole)[0].scott, Math.sqrt(88) / 2);
    const { normal, skewed } = noise(4);
    for (const values of [whole, normal(10), skewed(23), normal(50, 40, 3), twoPeaks(8, 25)]) {
      const [{ scott, crossValidated }] = bandwidthsOf(values);
      isClose(scott, ruleOf(values));
      isClose(crossValidated, validatedOf(values));
    }
  });

  test('are Scott’s alone with fewer than ten rounds', () => {
    const values = noise(1).normal(FEWEST);
    assert.notEqual(bandwidthsOf(values)[0].crossValidated, null);
    const fewer = values.slice(1);
    const [{ scott, crossValidated }] = bandwidthsOf(fewer);
    isClose(scott, ruleOf(fewer));
    assert.equal(crossValidated, null);
  });

  test('are Scott’s alone where values repeat', () => {
    const [{ scott, crossValidated }] = bandwidthsOf(noise(5).whole(60, 4));
    assert.ok(scott > 0);
    assert.equal(crossValidated, null);
  });

  test('are none without a spread', () => {
    for (const values of [[7], Array(40).fill(7), [...Array(39).fill(0), 5e-324], [null, 7]]) {
      assert.deepEqual(bandwidthsOf(values), []);
    }
  });

  test('are not told of the twin, whose curve has no thin line', () => {
    const values = twoPeaks(2, 25);
    const samples = [CONTROL, TWIN, TREATMENT].map((arm) => ({ arm, values }));
    const drawn = density('', samples);
    assert.deepEqual(
      drawn.bandwidths.map(({ arm }) => arm.title),
      ['a', 'b'],
    );
    assert.equal(linesOf(drawn), 3 + 2);
  });
});

test('a thin line stands where cross validation sees what the rule smooths', () => {
  const of = (values) => linesOf(density('', [{ arm: CONTROL, values }]));
  assert.equal(of(twoPeaks(3, 25)), 2);
  assert.equal(of(noise(3).normal(50)), 1);
});

describe('the page', () => {
  const notes = (results) =>
    [...parseHTML(renderHtml(results)).document.querySelectorAll('.multiples .note')].map(
      ({ textContent }) => textContent.replaceAll('\u00a0', ' '),
    );
  const spread = (results) => renderHtml(results).split('Spread of the rounds')[1];

  test('tells both bandwidths of each arm, and which is drawn', () => {
    const results = sampleResults({ rounds: 12 });
    const { control, treatment } = results.figures[0].values;
    const told = (values) => `${quantity(ruleOf(values))} / ${quantity(validatedOf(values))}`;
    assert.equal(
      notes(results)[0],
      `Bandwidth, Scott’s rule / cross-validated: direct ${told(control)}, adaptive ${told(treatment)}.`,
    );
    assert.match(spread(results), /filled curves are densities .* by Scott’s rule\. Five-fold/);
  });

  test('says that few rounds have no cross validation', () => {
    const results = sampleResults({ rounds: 6 });
    assert.match(
      notes(results)[0],
      /^Bandwidth, Scott’s rule: direct [\d,.]+, adaptive [\d,.]+\.$/,
    );
    assert.match(spread(results), /With fewer than 10 rounds there is no cross validation/);
  });

  test('is the same each time', () => {
    const page = () => renderHtml(sampleResults({ rounds: 12 }));
    assert.equal(page(), page());
  });
});
