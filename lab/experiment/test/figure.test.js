import assert from 'node:assert/strict';
import test from 'node:test';
import { figure } from '../figure.js';
import { costExperiment, judgedCosts, metric } from './simulation.js';

const TEN = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
/** The control once more, as often a little more as a little less. */
const TWIN = TEN.map((value, i) => value * (1 + (i % 2 === 0 ? 1 : -1) * (0.001 + i / 1e5)));
const times = (ratio) => TEN.map((value) => value * ratio);

const one = (treatment, { better = 'lower', control = TEN, twin = TWIN, ...options } = {}) => {
  const experiment = costExperiment({ metrics: [metric('cost', better)] });
  return judgedCosts({ control, twin, treatment }, { experiment, ...options }).figures[0];
};

const near = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} for ${expected}`);

test('a figure takes the ratio of each round by itself, so that above 1 is better', () => {
  const found = one(times(0.5));
  for (const key of ['ahead', 'lo', 'hi']) near(found[key], 2);
  near(one(times(0.5), { better: 'higher' }).ahead, 0.5);
  near(one(times(0.5), { better: null }).ahead, 0.5);
  assert.equal(found.n, 10);
  assert.equal(found.control, 14.5);
  assert.equal(found.treatment, 7.25);
  near(found.shift.estimate, -7.25);
  assert.ok(found.level >= 0.95 && found.p < 0.01 && found.pRankSum < 0.01 && found.delta < -0.9);
  assert.deepEqual(found.spread.control.iqr, 4.5);
  assert.deepEqual(found.values.treatment, times(0.5));
});

test('the finding has the sign of what is better', () => {
  assert.equal(one(times(0.9)).finding, 'better');
  assert.equal(one(times(1.1)).finding, 'worse');
  assert.equal(one(times(1.1), { better: 'higher' }).finding, 'better');
  assert.equal(one(times(1.1), { better: null }).finding, 'different');
  assert.equal(one(TWIN.toReversed().map((_, i) => TEN[i])).finding, 'no difference');
});

test('the A/A arm refuses a figure whose control is not the same as itself', () => {
  const found = one(times(0.5), { twin: times(1.01) });
  assert.equal(found.finding, 'refused');
  assert.match(
    found.refused,
    /^A\/A differs: the control measured twice gave 14.5 and 14.6 \(p 0.002\)/,
  );
  near(found.twin.ahead, 1.01);
  assert.equal(found.why, found.refused);
});

test('no round, one round and five rounds show nothing, and say so', () => {
  const none = figure(
    metric('cost'),
    { label: '' },
    'fast',
    { control: [], twin: [], treatment: [] },
    { effect: 1.05 },
  );
  assert.deepEqual([none.n, none.control, none.ahead, none.p], [0, null, null, null]);
  const single = one([5], { control: [10], twin: [10] });
  assert.equal(single.finding, 'undecided');
  assert.equal(single.why, '1 round cannot show a difference; 6 are the least');
  assert.equal(single.level, 0);
  near(single.ahead, 2);
  const five = one(times(0.5).slice(5), { control: TEN.slice(5), twin: TWIN.slice(5) });
  assert.equal(five.why, '5 rounds cannot show a difference; 6 are the least');
  assert.ok(five.level < 0.95);
});

test('values that are all the same are no difference', () => {
  const same = Array(10).fill(7);
  const found = one(same, { control: same, twin: same });
  assert.equal(found.finding, 'no difference');
  assert.deepEqual([found.ahead, found.lo, found.hi, found.p, found.twin.p], [1, 1, 1, 1, 1]);
});

test('zeros have no ratio; the shift decides', () => {
  const zeros = Array(10).fill(0);
  const none = one(zeros, { control: zeros, twin: zeros });
  assert.deepEqual([none.finding, none.ahead, none.smallest], ['no difference', null, null]);
  const gone = one(zeros, { twin: TWIN });
  assert.deepEqual([gone.finding, gone.ahead], ['better', null]);
  const errors = one(TEN, { control: zeros, twin: zeros });
  assert.deepEqual([errors.finding, errors.ahead, errors.shift.estimate], ['worse', null, 14.5]);
  const some = zeros.map((_, i) => (i < 3 ? 1 : 0));
  const few = one(some, { control: zeros, twin: zeros });
  assert.deepEqual([few.finding, few.why], ['undecided', 'there is no ratio']);
});

test('a round that cannot tell leaves the figure undecided, with how many could', () => {
  const found = one([null, ...times(0.5).slice(1)]);
  assert.deepEqual([found.finding, found.ahead, found.treatment], ['undecided', null, null]);
  assert.equal(found.control, 14.5, 'all of the control could');
  assert.equal(found.why, '9 of 10 rounds only could tell');
  const none = one(Array(10).fill(null));
  assert.equal(none.why, 'none of 10 rounds could tell');
  assert.equal(one(times(0.5), { twin: [...TWIN.slice(1), null] }).finding, 'undecided');
});

test('what is no number is refused with the name of the metric', () => {
  for (const [value, shown] of [
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['7', '7'],
  ]) {
    assert.throws(() => one([value, ...TEN.slice(1)]), {
      code: 'MILLRACE_LAB_E_EXPERIMENT',
      message: `metric cost gave ${shown}; it must be a number, or null when the run cannot tell`,
    });
  }
});

test('the effect sought decides what is too noisy', () => {
  const noisy = TEN.map((value, i) => value * (1 + (i % 2 === 0 ? 0.06 : -0.06)));
  const found = one(
    [...noisy].map((_, i) => TEN[i] * (i % 2 === 0 ? 0.99 : 1.01)),
    { twin: noisy },
  );
  assert.equal(found.finding, 'undecided');
  assert.match(found.why, /^too noisy: 10 rounds show 6.7 % or more; 5 % needs about \d+ rounds/);
  const asked = one(
    [...noisy].map((_, i) => TEN[i] * (i % 2 === 0 ? 0.99 : 1.01)),
    {
      twin: noisy,
      effect: 1.2,
    },
  );
  assert.equal(asked.finding, 'no difference');
});

test('of many metrics some differ by chance: Holm’s correction is over those that have a `better`', () => {
  const names = ['a', 'b', 'c', 'd', 'none'];
  const experiment = costExperiment({
    metrics: names.map((name) =>
      metric(name, name === 'none' ? undefined : 'lower', ({ values }) => values.cost),
    ),
  });
  // Seven of ten rounds agree: one such p is a difference, the least of four is none.
  const treatment = TEN.map((value, i) => value * (i < 3 ? 1.012 : 0.95 + i / 1000));
  const { figures } = judgedCosts({ control: TEN, twin: TWIN, treatment }, { experiment });
  const [first, , , , last] = figures;
  assert.ok(first.p <= 0.05 && first.p > 0.0125, `${first.p}`);
  near(first.pHolm, 4 * first.p);
  assert.notEqual(first.finding, 'better');
  assert.deepEqual([last.pHolm, last.finding], [null, 'different']);
});

test('what was published stands beside it with its own ratio', () => {
  const values = { control: [1], twin: [1], treatment: [1] };
  const published = (paper, options) =>
    figure(metric('ms', 'lower'), { label: 'a', paper }, 'fast', values, {
      effect: 1.05,
      ...options,
    }).paper;
  const paper = { control: { ms: 100 }, treatment: { ms: 50 } };
  assert.deepEqual(published(paper), { control: 100, treatment: 50, ahead: 2 });
  assert.deepEqual(published({ ...paper, fast: { ms: 25 } }).treatment, 25);
  assert.deepEqual(published(paper, { isOnly: false }), { control: 100, treatment: undefined });
  assert.equal(published({ control: { other: 1 } }), null);
  assert.equal(published(undefined), null);
});
