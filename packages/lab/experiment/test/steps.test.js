import assert from 'node:assert/strict';
import test from 'node:test';
import { planLine } from '../files.js';
import { readExperiment } from '../format.js';
import { leastSecondsOf, stepsOf } from '../plan.js';
import { experimentWith, moduleWith } from './support.js';

const cases = [{ label: 'a' }, { label: 'b', from: 'paper' }];
const rounds = { quick: 2, paper: 10 };

test('the runs are those of all cases, rounds and arms; quick ones are fewer', () => {
  const experiment = experimentWith({ cases, rounds });
  assert.equal(stepsOf(experiment, {}), 2 * 10 * 3);
  assert.equal(stepsOf(experiment, { size: 'quick' }), 1 * 2 * 3);
  assert.equal(stepsOf(experiment, { rounds: 4 }), 2 * 4 * 3);
});

test('a case has its own most, unless rounds are given, and a twin may be rare', () => {
  const one = { label: 'a', rounds: 4 };
  const experiment = experimentWith({
    cases: [one, { label: 'b' }],
    rounds,
    twinEvery: { paper: 3 },
  });
  // Two of 4 rounds have a twin, four of 10.
  assert.equal(stepsOf(experiment, {}), 4 * 2 + 2 + (10 * 2 + 4));
  assert.equal(stepsOf(experiment, { rounds: 6 }), 2 * (6 * 2 + 2));
});

test('the expected time of a load is in the plan', () => {
  const takes = ({ label }) => (label === 'a' ? 10 : 0.5);
  const experiment = experimentWith({ cases, rounds, load: { takes } });
  assert.equal(leastSecondsOf(experiment, { size: 'quick' }), 11 * 2 * 3);
  const program = { kind: 'program', takes: 4 };
  const work = readExperiment({ ...moduleWith({ rounds }), load: program }, 'work');
  assert.equal(leastSecondsOf(work, { size: 'quick' }), 5 * 2 * 3);
});

test('a run takes its warm-up, its load and a second at least', () => {
  const load = {
    requests: ({ label }) => [
      { name: 'one', path: '/one', at: 500, rate: 10, seconds: label === 'a' ? 2 : 4 },
      { name: 'late', path: '/one', at: 1000 },
    ],
    warmup: [{ name: 'one', path: '/one', rate: 10, seconds: 0.5 }],
  };
  const experiment = experimentWith({ cases, rounds, load });
  assert.equal(leastSecondsOf(experiment, {}), (2.5 + 0.5 + 1 + (4.5 + 0.5 + 1)) * 10 * 3);
  assert.equal(leastSecondsOf(experiment, { size: 'quick' }), (2.5 + 0.5 + 1) * 2 * 3);
  const ws = {
    kind: 'ws',
    seconds: ({ size }) => (size === 'quick' ? 1 : 20),
    warmup: 2,
  };
  const sockets = readExperiment({ ...moduleWith({ rounds }), load: ws }, 'sockets');
  assert.equal(leastSecondsOf(sockets, {}), 23 * 10 * 3);
  assert.equal(planLine([sockets, sockets], { size: 'quick' }), '12 runs, 48 s or more');
});

test('an invalid load is reported by name, or left to the run', () => {
  const seconds = (load) =>
    leastSecondsOf(experimentWith({ rounds: { quick: 1, paper: 1 }, load }), {});
  const requests = () => {
    throw new Error('no such case');
  };
  const code = 'MILLRACE_LAB_E_EXPERIMENT';
  assert.throws(() => seconds({ requests }), { code, message: /^load\.requests .*no such case/ });
  for (const value of [undefined, 7, [null], [{ name: 'one', path: '/one', seconds: 'long' }]]) {
    assert.equal(seconds({ requests: () => value }), 3);
  }
});
