import assert from 'node:assert/strict';
import test from 'node:test';
import { figure } from '../figure.js';
import { judge, verdict } from '../verdict.js';

const lower = { name: 'ms', unit: 'ms', better: 'lower' };
const at = { label: 'a' };

test('all rounds decide about a claim', () => {
  const outcomes = {
    met: [
      [2, 3, 2],
      [2.4, 2.6, 1.5],
      [0.96, 1.02, 0.95],
    ],
    'not met': [
      [1.4, 1.9, 2],
      [0.9, 1.06, 2],
      [0.8, 0.94, 0.95],
    ],
    refuted: [
      [0.98, 1.02, 1.35],
      [0.2, 0.3, 2],
    ],
    open: [
      [1.9, 2.1, 2],
      [0.9, 1, 0.95],
      [0.9, 1.1, 1.05],
    ],
  };
  for (const [outcome, all] of Object.entries(outcomes)) {
    for (const [lo, hi, atLeast] of all) {
      assert.equal(
        verdict({ lo, hi, n: 2 }, atLeast),
        outcome,
        `${lo} to ${hi}, claimed ${atLeast}`,
      );
    }
  }
});

test('one round leaves it open', () => {
  for (const ratio of [0.5, 2, 100]) {
    assert.equal(verdict({ lo: ratio, hi: ratio, n: 1 }, 2), 'open');
  }
});

test('a figure takes the ratio of each round by itself, so that above 1 is better', () => {
  const values = { control: [10, 20, 90], treatment: [5, 20, 30] };
  const { control, treatment, ahead, lo, hi, n } = figure(lower, at, values);
  assert.deepEqual(
    { control, treatment, ahead, lo, hi, n },
    {
      ...{ control: 20, treatment: 20 },
      ...{ ahead: 2, lo: 1, hi: 3, n: 3 },
    },
  );
  assert.equal(figure({ ...lower, better: 'higher' }, at, values).ahead, 0.5);
});

test('a round that cannot tell leaves no ratio and no median of the others', () => {
  const found = figure(lower, at, { control: [10, null], treatment: [5, 5] });
  assert.equal(found.control, null);
  assert.equal(found.treatment, 5);
  assert.equal(found.ahead, null);
});

test('nothing divided by nothing is no ratio', () => {
  assert.equal(figure(lower, at, { control: [0], treatment: [0] }).ahead, null);
  assert.equal(figure(lower, at, { control: [1], treatment: [0] }).ahead, null);
});

test('what was published stands beside it with its own ratio', () => {
  const paper = { control: { ms: 100 }, treatment: { ms: 50 } };
  const values = { control: [1], treatment: [1] };
  assert.deepEqual(figure(lower, { ...at, paper }, values).paper, {
    control: 100,
    treatment: 50,
    ahead: 2,
  });
  assert.equal(figure(lower, { ...at, paper: { control: { other: 1 } } }, values).paper, null);
});

test('a claim is judged at each of its cases, and what was not measured is said', () => {
  const cases = [{ label: 'a' }, { label: 'b' }, { label: 'c' }];
  const figures = [
    figure(lower, cases[0], { control: [10, 10], treatment: [10, 10] }),
    figure(lower, cases[1], { control: [10, 10], treatment: [2, 2] }),
  ];
  const claim = { text: 't', source: 's', metric: 'ms', atLeast: 2, says: { met: 'so it is' } };
  const judged = judge([claim], figures, cases);
  assert.deepEqual(
    judged.map((each) => [each.case, each.verdict, each.ahead, each.says]),
    [
      ['a', 'refuted', 1, null],
      ['b', 'met', 5, 'so it is'],
      ['c', 'not measured', null, null],
    ],
  );
  const one = judge([{ ...claim, cases: ['b'] }], figures, cases);
  assert.deepEqual(
    one.map((each) => each.case),
    ['b'],
  );
});
