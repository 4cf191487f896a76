import assert from 'node:assert/strict';
import test from 'node:test';
import { figure } from '../figure.js';
import { judge } from '../judge.js';
import { valuesOf } from '../record.js';
import { costExperiment, gatheredFrom, judgedCosts, metric } from './simulation.js';

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
  const found = one(times(0.5), { twin: times(1.06) });
  assert.equal(found.finding, 'refused');
  assert.match(
    found.refused,
    /^A\/A differs: the control measured twice gave 14.5 and 15.4 \(p 0.002\)/,
  );
  near(found.twin.ahead, 1.06);
  assert.equal(found.why, found.refused);
  assert.equal(found.bias, null);
});

/** A/A differs by 1 to 2 %. */
const NEAR = TEN.map((value, i) => value * (1.01 + i / 1000));

test('A/A that differs by less than the effect sought widens the interval instead', () => {
  const alone = one(times(0.5));
  const found = one(times(0.5), { twin: NEAR });
  assert.deepEqual([found.finding, found.refused], ['better', null]);
  assert.ok(found.bias > 1.01 && found.bias < 1.02, `${found.bias}`);
  near(found.lo, alone.lo / found.bias);
  near(found.hi, alone.hi * found.bias);
  // Less is sought, of which this A/A may hide something.
  assert.equal(one(times(0.5), { twin: NEAR, effect: 1.015 }).finding, 'refused');
  assert.equal(one(times(0.5), { twin: times(1.06), effect: 1.1 }).finding, 'better');
});

test('a difference that is no larger than that of A/A is undecided', () => {
  const { finding, why } = one(times(0.99), { twin: NEAR });
  assert.equal(finding, 'undecided');
  assert.match(why, /^A\/A differs by up to 1\.\d %: this difference may have the same cause$/);
  assert.equal(one(times(1.03), { twin: NEAR }).finding, 'worse');
});

test('of an A/A without a ratio nothing is known to be small', () => {
  const zeros = TEN.map(() => 0);
  assert.equal(one(times(0.5), { control: zeros, twin: TEN }).finding, 'refused');
});

test('intervals widened by A/A are in the notes, and claims are judged by them', () => {
  const experiment = costExperiment({
    metrics: [metric('cost', 'lower')],
    claim: { text: 't', source: 's', metric: 'cost', atLeast: 2 },
  });
  const of = (twin) => judgedCosts({ control: TEN, twin, treatment: times(0.495) }, { experiment });
  assert.equal(of(TWIN).claims[0].verdict, 'met');
  const { claims, notes } = of(NEAR);
  assert.equal(claims[0].verdict, 'open');
  assert.equal(notes.length, 1);
  assert.match(
    notes[0],
    /^cost: A\/A differs: .* less than the effect sought, 5 %, so that the figure counts; its interval is wider by 1\.\d % on each side\.$/,
  );
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

test('anything but a number is refused with the name of the metric', () => {
  for (const [value, shown] of [
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['7', '7'],
  ]) {
    assert.throws(() => valuesOf([metric('cost')], { values: { cost: value } }), {
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

/** Figures of several metrics, each of costs of its own in the treatment, or in the twin. */
function several(metrics, { claim } = {}) {
  const names = Object.keys(metrics);
  const experiment = costExperiment({
    metrics: names.map((name) => metric(name, name === 'none' ? undefined : 'lower')),
    ...(claim && { claim }),
  });
  const gathered = gatheredFrom(experiment, TEN.length, (role, _, round) => ({
    values: {
      isOn: role === 'treatment' ? 1 : 0,
      ...Object.fromEntries(
        names.map((name) => {
          const { twin = TWIN, treatment = TEN } = metrics[name];
          return [name, { control: TEN, twin, treatment }[role][round - 1]];
        }),
      ),
    },
  }));
  return judge(experiment, gathered).figures;
}

/** Seven of ten rounds agree: one such p is a difference, the least of four is none. */
const SOME = { treatment: TEN.map((value, i) => value * (i < 3 ? 1.012 : 0.95 + i / 1000)) };
const claimOf = (name) => ({ text: 't', source: 's', metric: name, atLeast: 2 });

test('of many metrics some differ by chance: the first is tested alone, the others are corrected among all', () => {
  const [main, ...others] = several({ a: SOME, b: SOME, c: SOME, d: SOME, none: SOME });
  const none = others.pop();
  assert.ok(main.p <= 0.05 && main.p > 0.0125, `${main.p}`);
  near(main.pHolm, main.p);
  assert.equal(main.finding, 'better');
  for (const each of others) {
    near(each.pHolm, 4 * main.p);
    assert.equal(each.finding, 'undecided');
    assert.match(each.why, /as one of 4 tests/);
  }
  assert.deepEqual([none.pHolm, none.finding], [null, 'different']);
});

test('metrics that claims name are corrected among themselves, and the first is one of the others then', () => {
  const [first, , third] = several(
    { a: SOME, b: SOME, c: SOME },
    { claim: [claimOf('b'), claimOf('c')] },
  );
  near(first.pHolm, 3 * first.p);
  near(third.pHolm, 2 * third.p);
});

test('six rounds are enough for the main metric to be better, whatever else is measured', () => {
  const six = (values) => values.slice(0, 6);
  const experiment = costExperiment({
    metrics: [metric('cost', 'lower'), metric('wall', 'lower', ({ costs }) => costs.wallS)],
  });
  const [main] = judgedCosts(
    { control: six(TEN), twin: six(TWIN), treatment: six(times(0.5)) },
    { experiment },
  ).figures;
  assert.equal(main.finding, 'better');
});

test('A/A is corrected in the same families: one that differs by chance takes no other along', () => {
  const differs = { twin: TEN.map((value, i) => value * (i < 3 ? 0.988 : 1.08 - i / 1000)) };
  const [a, b, c, d] = several({ a: differs, b: differs, c: {}, d: {} });
  assert.ok(a.twin.p <= 0.05 && a.twin.p > 0.0125, `${a.twin.p}`);
  assert.deepEqual(
    [a, b, c, d].map(({ refused }) => refused !== null),
    [true, false, false, false],
  );
});

test('no difference needs an interval within the effect, not only a quiet A/A', () => {
  const wild = TEN.map((value, i) => value * (i % 2 === 0 ? 0.5 : 1.9));
  const found = one(wild);
  assert.ok(found.p > 0.05 && found.smallest < 1.05, JSON.stringify(found));
  assert.equal(found.finding, 'undecided');
  assert.match(found.why, /^the interval, 0\.\d+ to \d.*, goes beyond 5 %: it takes more rounds$/);
});

test('a published figure stands beside it with its own ratio', () => {
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
