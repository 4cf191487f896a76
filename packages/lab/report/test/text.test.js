import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { facts } from '../facts.js';
import { aligned, duration, levelText, measured, pValue, range } from '../numbers.js';
import { claimTexts, finding, growthOf, headline, limits, overall } from '../text.js';
import { sampleResults } from './sample.js';

const NB = '\u00a0';

const figure = (rest) => ({
  ...{ case: '', arm: 'adaptive', metric: 'rate', title: 'messages per second', unit: '1/s' },
  ...{ better: 'higher', n: 50, control: 100, treatment: 158, ahead: 1.58, lo: 1.52, hi: 1.63 },
  ...{ level: 0.953, finding: 'better', refused: null, shift: null },
  ...rest,
});

const claim = (rest) => ({
  ...{ text: 'half as much again', source: 'paper', metric: 'rate', case: '', arm: 'adaptive' },
  ...{ atLeast: 1.5, verdict: 'met', ahead: 1.58, lo: 1.52, hi: 1.63, n: 50, p: 0.001 },
  ...{ why: null, says: null },
  ...rest,
});

const results = (rest) => ({
  ...{
    arms: [
      { role: 'control', name: 'direct' },
      { role: 'treatment', name: 'adaptive' },
    ],
  },
  ...{ metrics: [{ name: 'rate', title: 'messages per second', unit: '1/s', better: 'higher' }] },
  ...{ refusal: null, partial: null, figures: [figure()], claims: [], runs: [], cases: [''] },
  ...rest,
});

describe('the sentence of a figure', () => {
  const said = (rest) => finding(figure(rest), 'direct');

  test('better: how much, with what, how sure, from what to what', () => {
    assert.equal(
      said(),
      `Messages per second: 1.58 times better with adaptive than with direct (95${NB}% interval 1.52 to 1.63, 50 rounds); 100/s with direct, 158/s with adaptive.`,
    );
  });

  test('a worse result is inverted, and so is its interval', () => {
    assert.match(
      said({ finding: 'worse', ahead: 0.8, lo: 0.5, hi: 0.9 }),
      /: 1\.25 times worse with adaptive than with direct \(95.% interval 1\.11 to 2\.00, /,
    );
  });

  test('neither is better', () => {
    assert.match(
      said({ better: null, finding: 'different', ahead: 1.3, lo: 1.2, hi: 1.4 }),
      /: 1\.30 times as much with adaptive as with direct \(95.% interval 1\.20 to 1\.40 times, /,
    );
  });

  test('no difference, and what is not decided', () => {
    const near = { ahead: 1.01, lo: 0.99, hi: 1.02 };
    assert.match(
      said({ finding: 'no difference', ...near }),
      /: no difference between direct and adaptive \(95.% interval 0\.99 to 1\.02 times, 50 rounds\)/,
    );
    assert.match(said({ finding: 'undecided', ...near }), /: the rounds do not decide whether/);
  });

  test('without a ratio the difference is reported', () => {
    const none = { ahead: null, lo: null, hi: null, control: 0, treatment: 3, unit: '' };
    assert.match(
      said({ ...none, finding: 'worse', better: 'lower', shift: { estimate: 3, lo: 2, hi: 4 } }),
      /: worse with adaptive than with direct \(95.% interval of the difference 2 to 4, 50 rounds\); 0 with/,
    );
    assert.match(said({ ...none, finding: 'worse' }), /interval not known/);
    assert.match(said({ ...none, finding: 'different' }), /: other with adaptive than with direct/);
  });

  test('refused: why, and no figure', () => {
    const text = said({ finding: 'refused', refused: 'the control differs from itself (p 0.01)' });
    assert.equal(
      text,
      'Messages per second: this figure does not count. The control differs from itself (p 0.01).',
    );
  });

  test('one round', () => {
    assert.match(said({ n: 1, level: 0.5 }), /\(50.% interval 1\.52 to 1\.63, 1 round\)/);
  });
});

describe('the headline', () => {
  test('a refused experiment says so first, why, and what to do', () => {
    const refusal = { why: 'the arms are not equal', advice: 'serve the same bytes' };
    assert.deepEqual(headline(results({ refusal, figures: [] })), {
      word: 'refused',
      title: 'Refused: no figure of this experiment counts.',
      more: ['The arms are not equal.'],
      advice: 'Serve the same bytes.',
    });
  });

  test('a partial one says so first, then what was found so far', () => {
    const found = headline(results({ partial: 'stopped after 3 of 50 rounds' }));
    assert.equal(found.word, 'partial');
    assert.equal(found.title, 'Partial: stopped after 3 of 50 rounds.');
    assert.match(found.more[0], /^So far: messages per second: 1\.58 times better/);
    assert.match(found.advice, /finish/);
    const nothing = headline(results({ partial: 'stopped in the warm-up', figures: [] }));
    assert.equal(nothing.word, 'partial');
    assert.match(nothing.advice, /again/);
  });

  test('nothing measured', () => {
    assert.equal(headline(results({ figures: [] })).title, 'Nothing was measured.');
    assert.equal(headline(results({ metrics: [] })).title, 'Nothing was measured.');
  });

  test('too noisy: the word, and how many rounds would decide', () => {
    const noisy = figure({ finding: 'undecided', lo: 0.9, hi: 1.2, ahead: 1.04, roundsFor: 130 });
    const found = headline(results({ figures: [noisy] }));
    assert.equal(found.word, 'undecided');
    const few = headline(results({ figures: [{ ...noisy, n: 2 }] }));
    assert.match(few.advice, /^Measure 6 rounds or more/);
    assert.equal(
      found.advice,
      'Measure on a machine that does nothing else, or in about 130 rounds.',
    );
  });

  test('the word is the verdict on the main metric; a refused figure overrules a claim', () => {
    assert.equal(overall(results()), 'better');
    assert.equal(overall(results({ claims: [claim({ verdict: 'not met' })] })), 'not met');
    const two = [claim(), claim({ verdict: 'open' })];
    assert.equal(overall(results({ claims: two })), 'mixed');
    const half = [claim(), claim({ verdict: 'not measured' })];
    assert.equal(overall(results({ claims: half })), 'met');
    const refused = [figure({ finding: 'refused', refused: 'A/A' })];
    assert.equal(overall(results({ figures: refused, claims: [claim()] })), 'refused');
  });

  test('several cases: how many, from where to where, and whether the gain grows', () => {
    const figures = [
      figure({ case: '100', ahead: 1.1, lo: 1.05, hi: 1.15 }),
      figure({ case: '500', ahead: 1, lo: 0.98, hi: 1.01, finding: 'no difference' }),
      figure({ case: '900', ahead: 1.5, lo: 1.4, hi: 1.6 }),
    ];
    assert.equal(
      headline(results({ figures })).title,
      `Messages per second, adaptive against direct: better in 2 and no difference in 1 of 3 cases; from 1.00 times at 500 (95${NB}% interval 0.98 to 1.01) to 1.50 times at 900 (1.40 to 1.60). The gain grows from 100 to 900.`,
    );
    assert.equal(growthOf(figures.toReversed()), 'The gain shrinks from 900 to 100.');
    const near = figure({ case: '900', ahead: 1.2, lo: 1.12, hi: 1.3 });
    assert.match(growthOf([figures[0], near]), /^Nothing shows that the gain grows/);
    assert.equal(
      growthOf([figures[0], figure({ case: 'x', ahead: null, lo: null, hi: null })]),
      null,
    );
  });
});

describe('claims', () => {
  for (const verdict of ['met', 'not met', 'refuted', 'open', 'refused', 'not measured']) {
    test(verdict, () => {
      const [found] = claimTexts(results({ claims: [claim({ verdict, why: 'about 9 rounds' })] }));
      assert.equal(found.word, verdict);
      assert.deepEqual(found.remarks, ['About 9 rounds.']);
      assert.equal(
        found.outcome,
        'Messages per second: at least 1.50 times better was claimed; 1.58 was measured (1.52 to 1.63, 50 rounds).',
      );
    });
  }

  test('no difference, as there was nothing in either arm', () => {
    const nothing = { verdict: 'no difference', ahead: null, lo: null, hi: null };
    const why = 'none in either arm at this load';
    const [found] = claimTexts(results({ claims: [claim({ ...nothing, why })] }));
    assert.equal(found.word, 'no difference');
    assert.deepEqual(found.remarks, ['None in either arm at this load.']);
  });

  test('without a figure', () => {
    const none = claim({ verdict: 'not measured', ahead: null, lo: null, hi: null });
    assert.match(claimTexts(results({ claims: [none] }))[0].outcome, /no figure was measured\.$/);
  });

  test('of several cases: named when few, counted when many', () => {
    const cases = ['a', 'b', 'c', 'd', 'e'].map((label, i) =>
      claim({ case: label, verdict: i < 2 ? 'met' : 'open' }),
    );
    const said = (claims) =>
      claimTexts(results({ claims }))[0].outcome.split('; ').slice(1).join('; ');
    assert.equal(said(cases.slice(0, 3)), 'met at a, at b; open at c.');
    assert.equal(said(cases), 'met in 2 and open in 3 of 5 comparisons.');
    assert.equal(said(cases.slice(0, 2)), 'met in all 2 comparisons.');
  });
});

test('limits name what is so in these results', () => {
  const plain = limits(results());
  const quick = limits(results({ size: 'quick' }));
  assert.equal(quick.length, plain.length + 1);
  assert.ok(
    limits(results({ figures: [figure({ level: 0.5 })] })).some((text) => /95 %/.test(text)),
  );
  assert.ok(limits(sampleResults({ rounds: 1 })).length > plain.length);
});

test('numbers as texts', () => {
  assert.deepEqual(aligned(['12', '3.25', '–', '0.5']), [
    '12\u2008\u2007\u2007',
    '3.25',
    '–',
    '0.5\u2007',
  ]);
  assert.deepEqual([45, 300, 4512, 0.2, null].map(duration), [
    '45 s',
    '5 min',
    '1 h 15 min',
    '0 s',
    '–',
  ]);
  assert.deepEqual([0.0004, 0.0342, null, Number.NaN].map(pValue), ['<0.001', '0.034', '–', '–']);
  assert.equal(measured(41_200, '1/s'), '41,200/s');
  assert.equal(measured(null, 'ms'), '–');
  assert.equal(range(null, 2), '–');
  assert.equal(levelText(0.96875), `96${NB}%`);
});

test('the facts of a machine are in words, and each once', () => {
  const host = { cpu: 'x', node: 'v20.20.2', is_virtual: true, load_average: [1.26, 0.5, 0] };
  const told = new Map(
    facts({ ...sampleResults({ rounds: 3 }), host, versions: { node: 'v20.20.2' } }),
  );
  assert.equal(told.get('virtual machine'), 'yes');
  assert.equal(told.get('load average at the start'), '1.3, 0.5, 0.0');
  assert.equal([...told.values()].filter((text) => text === 'v20.20.2').length, 1);
});
