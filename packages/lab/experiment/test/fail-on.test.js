import assert from 'node:assert/strict';
import test from 'node:test';
import { decides, foundOf, readFailOn } from '../fail-on.js';
import { judge } from '../judge.js';
import { costExperiment, gatheredFrom, metric } from './simulation.js';

/** The treatment costs `times` as much, with a little noise of the twin. */
const costing = (times) => (role, _, round) => ({
  values: {
    cost: 10 * round * (role === 'treatment' ? times + round / 1000 : 1),
    other: role === 'treatment' ? 2 + round : 1 + round / 10,
    isOn: role === 'treatment' ? 1 : 0,
  },
});

function found(words, changes, runs, rounds = 8) {
  const experiment = costExperiment(changes);
  const results = judge(experiment, gatheredFrom(experiment, rounds, runs));
  return foundOf(experiment, results, readFailOn(words));
}

test('a finding that is named is found, with its size', () => {
  const [line, ...others] = found('worse', {}, costing(2));
  assert.match(line, /^cost, fast: worse, 0\.50× \(0\.\d+–0\.\d+\)$/);
  assert.deepEqual(others, []);
  assert.deepEqual(found('worse', {}, costing(0.5)), []);
  assert.match(found('undecided,better', {}, costing(0.5))[0], /^cost, fast: better, 1\.\d+×/);
  assert.match(found('worse, undecided', {}, costing(2), 1)[0], /^cost, fast: undecided/);
});

test('equal values in both arms are no difference', () => {
  const same = (role) => ({ values: { cost: 7, isOn: role === 'treatment' ? 1 : 0 } });
  const [line] = found('no-difference', {}, same);
  assert.match(line, /^cost, fast: no difference, 1\.00×/);
  assert.deepEqual(found('worse,undecided,different,refused,better', {}, same), []);
});

test('only metrics that decide count: the main one, or those of the claims', () => {
  const metrics = [metric('cost', 'lower'), metric('other', 'lower')];
  assert.deepEqual(found('worse', { metrics }, costing(0.5)), []);
  const claim = { text: 'Less', source: 'a paper', metric: 'other', atLeast: 2 };
  const [line, ...others] = found('worse', { metrics, claim }, costing(2));
  assert.match(line, /^other, fast: worse/);
  assert.deepEqual(others, []);
});

test('each case is reported; a refused one has no figure', () => {
  const cases = [{ label: 'few' }, { label: 'many' }];
  const runs = (role, arm, round, label) => {
    const run = costing(2)(role, arm, round);
    return label === 'many' ? { ...run, faults: ['it broke'] } : run;
  };
  assert.match(found('worse', { cases }, runs).join('\n'), /^cost, few, fast: worse.*$/);
  assert.deepEqual(found('refused', { cases }, runs), ['case many: refused']);
});

test('without a metric that is better one way nothing decides', () => {
  assert.equal(decides(costExperiment()), true);
  assert.equal(decides(costExperiment({ metrics: [metric('cost')] })), false);
});
