/** Experiments whose truth is known, as it was put into them: through `judge`, seeds fixed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { judge } from '../judge.js';
import { costExperiment, gatheredFrom, groupWith, simulated } from './simulation.js';

const EXPERIMENTS = 200;

test('of 200 experiments without a difference about 5 % are called different', () => {
  const figures = simulated({
    experiments: EXPERIMENTS,
    rounds: 10,
    ratio: 1,
    noise: 0.03,
    seed: 1,
  });
  // The exact test of 10 pairs calls 50 of 1024 different: 2 to 20 of 200 with 99.9 %.
  const between = (count) => assert.ok(count >= 2 && count <= 20, `${count} of ${EXPERIMENTS}`);
  between(figures.filter(({ p }) => p <= 0.05).length);
  between(figures.filter(({ twin }) => twin.p <= 0.05).length);
  for (const { p, twin, bias, refused, finding } of figures) {
    const differs = refused !== null || bias !== null;
    assert.equal(differs, twin.p <= 0.05);
    const expected = p <= 0.05 ? ['better', 'worse'] : ['no difference', 'undecided'];
    if (bias !== null) expected.push('undecided');
    assert.ok((refused === null ? expected : ['refused']).includes(finding), finding);
  }
});

test('10 % more cost is found with its sign, and the interval covers it', () => {
  const figures = simulated({
    experiments: EXPERIMENTS,
    rounds: 10,
    ratio: 1.1,
    noise: 0.03,
    seed: 2,
  });
  const counted = figures.filter(({ refused }) => refused === null);
  assert.ok(counted.length >= 180, `${counted.length}`);
  assert.ok(counted.every(({ finding }) => finding !== 'better'));
  const found = counted.filter(({ finding }) => finding === 'worse').length;
  assert.ok(found / counted.length > 0.98, `${found} of ${counted.length}`);
  // 95.1 % of 200: 180 to 199 with 99.9 %. `ahead` is the inverse, as less is better.
  const covers = figures.filter(({ lo, hi }) => lo <= 1 / 1.1 && 1 / 1.1 <= hi).length;
  assert.ok(covers >= 180 && covers <= 199, `${covers} of ${EXPERIMENTS}`);
});

const refusalOf = (changes) => {
  const experiment = costExperiment();
  const results = judge(experiment, gatheredFrom(experiment, 6, changes));
  assert.deepEqual(results.figures, []);
  assert.equal(results.runs.length, 18, 'raw samples stay');
  return results.refusal;
};

test('arms whose answers differ in size are refused, with both figures', () => {
  const { why, advice } = refusalOf((role) => ({
    work: [groupWith({ bytes: role === 'treatment' ? 130 : 100 })],
  }));
  assert.equal(why, "bytes per answer of 'one': 100 in slow, 130 in fast");
  assert.match(advice, /same work/);
});

test('a generator that was the limit is refused', () => {
  const saturated = 'the load generator used 99 % of its core';
  const { why, advice } = refusalOf((role, _, round) => ({
    saturated: role === 'control' && round === 4 ? saturated : null,
  }));
  assert.equal(why, `slow: ${saturated}`);
  assert.match(advice, /lower rate/);
});

test('a machine too noisy for the effect sought is said, with the rounds that it needs', () => {
  const [figure] = simulated({ experiments: 1, rounds: 10, ratio: 1, noise: 0.2, seed: 4 });
  assert.equal(figure.finding, 'undecided');
  assert.match(figure.why, /^too noisy: 10 rounds show \d+ % or more; 5 % needs about \d+ rounds/);
  assert.ok(figure.smallest > 1.2 && figure.roundsFor > 100, JSON.stringify(figure));
  const [quiet] = simulated({ experiments: 1, rounds: 10, ratio: 1, noise: 0.01, seed: 4 });
  assert.equal(quiet.finding, 'no difference');
  assert.ok(quiet.smallest < 1.05 && quiet.roundsFor <= 10);
});
