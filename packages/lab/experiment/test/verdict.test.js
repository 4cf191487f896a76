import assert from 'node:assert/strict';
import test from 'node:test';
import { judge, verdictOf } from '../judge.js';
import { table } from '../table.js';
import { costExperiment, gatheredFrom, judgedCosts, metric } from './simulation.js';

const values = { control: [10, 11, 12, 13, 14, 15], treatment: [9, 10.1, 10.8, 11.9, 12.4, 13.8] };
const figure = { refused: null, why: null, level: 0.95, n: 6, values };
const verdict = (lo, ahead, hi, atLeast, more) =>
  verdictOf({ ...figure, lo, ahead, hi, ...more }, atLeast);

test('the interval decides about a claim', () => {
  const outcomes = {
    met: [
      [2, 2.5, 3, 2],
      [0.96, 1, 1.02, 0.95],
    ],
    'not met': [
      [1.4, 1.6, 1.9, 2],
      [0.9, 1, 1.06, 2],
      [0.8, 0.9, 0.94, 0.95],
    ],
    refuted: [
      [0.98, 1, 1.02, 1.35],
      [0.2, 0.25, 0.3, 2],
    ],
    open: [
      [1.9, 2.05, 2.1, 2],
      [0.9, 0.97, 1, 0.95],
      [0.9, 1, 1.1, 1.05],
    ],
  };
  for (const [outcome, all] of Object.entries(outcomes)) {
    for (const given of all) assert.equal(verdict(...given).verdict, outcome, given.join());
  }
});

test('an open question says how many rounds would decide it', () => {
  const { why } = verdict(1.05, 1.1, 1.15, 1.08);
  assert.match(why, /^needs about \d+ rounds$/);
  const near = Number(/about (\d+)/.exec(verdict(1.05, 1.1, 1.15, 1.095).why)[1]);
  assert.ok(near > Number(/about (\d+)/.exec(why)[1]), 'what is nearer needs more');
  assert.match(verdict(1.05, 1.1, 1.15, 1.1).why, /as near as can be told/);
});

test('too few rounds, no ratio, no run and a figure that does not count', () => {
  const few = verdict(2, 2, 2, 1.5, { level: 0.5, n: 2 });
  assert.deepEqual(few, {
    verdict: 'open',
    why: '2 rounds give no interval of 95 %; 6 are the least',
  });
  assert.match(verdict(2, 2, 2, 1.5, { level: 0, n: 1 }).why, /^1 round gives no/);
  const untold = verdict(null, null, null, 2, { level: null, why: 'none of 6 rounds could tell' });
  assert.deepEqual(untold, { verdict: 'not measured', why: 'none of 6 rounds could tell' });
  assert.equal(verdictOf(undefined, 2).verdict, 'not measured');
  const refused = verdict(2, 2, 2, 1.5, { refused: 'A/A differs' });
  assert.deepEqual(refused, { verdict: 'refused', why: 'A/A differs' });
});

const claim = { text: 't', source: 's', metric: 'cost', atLeast: 2, says: { met: 'so it is' } };
const cases = [{ label: 'a' }, { label: 'b' }, { label: 'c', from: 'paper' }];
const isOn = ({ values: { isOn: on } }) => on === 1;
const treatment = ['fast', 'faster'].map((name) => ({ name, command: ['true'], isOn }));

const zeros = (better, control, treatment, atLeast = 18.9) => {
  const experiment = costExperiment({
    metrics: [metric('cost', better)],
    claim: { ...claim, atLeast },
  });
  return judgedCosts({ control, treatment }, { experiment }).claims[0].verdict;
};

test('zeros have no ratio: the differences decide about a claim', () => {
  const some = [5, 6, 7, 5, 6, 7];
  const many = [1000, 1001, 1002, 1000, 1001, 1002];
  const none = some.map(() => 0);
  assert.equal(zeros('lower', some, none), 'met');
  assert.equal(zeros('higher', none, some), 'met');
  assert.equal(zeros('lower', none, some), 'refuted');
  assert.equal(zeros('higher', some, none), 'refuted');
  assert.equal(zeros('lower', none, some, 0.95), 'not met');
  assert.equal(zeros('lower', many, [0, 0, 0, 0, 0, 1]), 'met');
  assert.equal(zeros('lower', many, [0, 90, 91, 90, 92, 90], 18.9), 'open');
  assert.equal(zeros('lower', many, [0, 90, 91, 90, 92, 90], 2), 'met');
  assert.equal(zeros('lower', [0, 1, 0, 2, 0, 1], [0, 0, 1, 0, 2, 0]), 'open');
  assert.equal(zeros('lower', [0, 0, 0, 0, 0, 5], none), 'open');
  assert.equal(zeros('lower', none, none), 'no difference');
  assert.equal(zeros('higher', none, none), 'no difference');
  assert.equal(zeros('lower', none.slice(1), none.slice(1)), 'open');
  assert.equal(zeros('lower', some, [0, -1, 0, -1, 0, 0]), 'not measured');
  assert.equal(zeros('lower', some.slice(1), none.slice(1)), 'open');
});

test('nothing in either arm is no difference, and the reason is given', () => {
  const none = [0, 0, 0, 0, 0, 0];
  const experiment = costExperiment({
    claim: { ...claim, says: { 'no difference': 'nothing to be fewer than' } },
  });
  const results = judgedCosts({ control: none, treatment: none }, { experiment });
  const [found] = results.claims;
  assert.deepEqual(
    [found.verdict, found.why, found.says],
    ['no difference', 'none in either arm at this load', 'nothing to be fewer than'],
  );
  assert.equal(results.figures[0].finding, 'no difference');
  assert.match(table(experiment, results), /no difference, claimed 2\.00×/);
});

test('a claim is judged at each of its cases for each of its arms', () => {
  const experiment = costExperiment({ cases, treatment, claim });
  const noise = (round) => 1 + 0.001 * round;
  const changes = (role, arm, round, label) => ({
    cost: noise(round) * (role === 'treatment' && (arm === 'faster' || label === 'b') ? 0.4 : 1),
  });
  const gathered = gatheredFrom(experiment, 6, changes);
  const rounds = gathered.rounds.filter(({ case: label }) => label !== 'c');
  const { claims } = judge(experiment, { ...gathered, rounds });
  assert.deepEqual(
    claims.map((each) => `${each.case} ${each.arm}: ${each.verdict}, ${each.says}`),
    [
      'a fast: refuted, null',
      'a faster: met, so it is',
      'b fast: met, so it is',
      'b faster: met, so it is',
      'c fast: not measured, null',
      'c faster: not measured, null',
    ],
  );
  assert.deepEqual([claims[1].n, claims[1].atLeast, claims[1].p <= 0.05], [6, 2, true]);
  const one = costExperiment({
    cases,
    treatment,
    claim: { ...claim, cases: ['b'], arms: ['fast'] },
  });
  assert.deepEqual(
    judge(one, gathered).claims.map((each) => `${each.case} ${each.arm}`),
    ['b fast'],
  );
});

test('of a refused experiment every claim is refused', () => {
  const experiment = costExperiment({ claim });
  const gathered = gatheredFrom(experiment, 6, () => ({ faults: ['all answers are missing'] }));
  const [judged] = judge(experiment, gathered).claims;
  assert.equal(judged.verdict, 'refused');
  assert.match(judged.why, /all answers are missing/);
});

test('a claim says what was measured in the direction that is better', () => {
  const experiment = costExperiment({ claim });
  const costs = {
    control: [10, 11, 12, 13, 14, 15, 16],
    treatment: [2, 2.2, 2.4, 2.6, 2.8, 3, 3.2],
  };
  const [judged] = judgedCosts(costs, { experiment }).claims;
  assert.equal(judged.verdict, 'met');
  assert.ok(Math.abs(judged.ahead - 5) < 1e-9);
});
