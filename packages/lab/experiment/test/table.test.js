import assert from 'node:assert/strict';
import test from 'node:test';
import { judge } from '../judge.js';
import { introduction, table } from '../table.js';
import { costExperiment, gatheredFrom, metric } from './simulation.js';

const isOn = ({ values: { isOn: on } }) => on === 1;
const arms = ['fixed hold of 50 ms', 'adaptive'].map((name) => ({ name, command: ['true'], isOn }));
const out = { isTTY: false };
const claim = { text: 'Twice as fast', source: 'a paper', metric: 'cost', atLeast: 2 };
const noise = (role, round) => (role === 'twin' ? 1 + (round % 2 ? 1 : -1) / (1000 + round) : 1);
const half = (role, _, round) => ({
  cost: 10 * round * noise(role, round) * (role === 'treatment' ? 0.4 + round / 1000 : 1),
});

function shown(changes, rounds, runs, more) {
  const experiment = costExperiment(changes);
  const text = table(
    experiment,
    judge(experiment, gatheredFrom(experiment, rounds, runs, more)),
    out,
  );
  for (const line of text.split('\n')) assert.ok(line.length <= 100, `${line.length}: ${line}`);
  return text;
}

test('one case and one treatment: a line for each metric', () => {
  const text = shown({ claim, notes: () => ['A remark.'] }, 6, half);
  assert.match(text, /^ +slow +fast +ahead +95 % +p +A\/A +finding$/m);
  assert.match(
    text,
    /^cost, s \(lower is better\) +35 +14.1 +2.48× +2.46–2.49 +0.031 +1.00× +better$/m,
  );
  assert.match(
    text,
    /^"Twice as fast" \(a paper\)\n {2}met, 2.48× \(2.46–2.49, 6 rounds\), claimed 2.00×$/m,
  );
  assert.match(text, /\nA remark\.$/);
});

test('several cases and treatments: a block for each metric, in 100 columns', () => {
  const label =
    'two thousand connections of which each asks for one hundred and more pages a second';
  const cases = [
    { label: 'few', paper: { adaptive: { cost: 3 }, control: { cost: 6 } } },
    { label },
  ];
  const metrics = [metric('cost', 'lower'), metric('kind', undefined, () => 7)];
  const text = shown({ cases, metrics, claim, treatment: arms }, 6, half);
  assert.match(text, /^cost, s \(lower is better\)\nfew, fixed hold of 50 ms +35 /m);
  assert.match(text, /^few, adaptive +35 .*better\n {4}paper: 6 → 3 s, 2.00×$/m);
  assert.match(text, /^kind, s$/m);
  assert.match(text, /^few, adaptive +7 +7 +1.000 +1.00× +no difference$/m);
  assert.match(text, /^ {2}few, adaptive: met/m);
});

test('few rounds have their interval in brackets, and the reason once', () => {
  const metrics = ['a', 'b', 'c'].map((name) => metric(name, 'lower', ({ values }) => values.cost));
  const text = shown({ metrics }, 2, half);
  assert.match(text, /^a, s \(lower is better\) .* \(2.\d+–2.\d+\) .* undecided$/m);
  assert.match(text, /^a, fast and 2 more: 2 rounds cannot show a difference; 6 are the least\.$/m);
});

test('noisy metrics are reported together, with the rounds that each needs; a single one alone', () => {
  const noisy = (role, _, round) => ({
    cost: (role === 'control') === (round % 2 === 0) ? 10 : 30,
  });
  const metrics = (names) =>
    names.map((name) => metric(name, 'lower', ({ values }) => values.cost * name.length));
  const two = shown({ metrics: metrics(['a', 'bb']) }, 6, noisy);
  const both = /^Too noisy to show 5 %\. It takes .* rounds: ([\d,]+) for a; ([\d,]+) for\sbb\.$/m;
  const [, ...rounds] = both.exec(two) ?? assert.fail(two);
  assert.equal(rounds[0], rounds[1]);
  assert.doesNotMatch(two, /^a, fast: /m);
  assert.match(shown({ metrics: metrics(['a']) }, 6, noisy), /^a, fast: too noisy: 6 rounds show/m);
});

test('A/A that differs, and a part of the rounds, are said', () => {
  const text = shown({}, 6, (role, _, round) => ({ cost: round * (role === 'twin' ? 2 : 1) }), {
    partial: 'stopped after 6 of 50 rounds; the others were not measured',
  });
  assert.match(text, /^Partial: stopped after 6 of 50 rounds; the others were not measured\.\n\n/);
  assert.match(text, / differs +refused$/m);
  assert.match(
    text,
    /^cost, fast: A\/A differs: the control measured twice gave 3.5 and 7 \(p 0.031\)\.$/m,
  );
  assert.match(shown({}, 0, half), /^No round is whole\.$/m);
});

test('a refusal shows why and what to do, and no figure', () => {
  const text = shown({ claim }, 6, () => ({ saturated: 'the generator used 99 % of its core' }));
  assert.match(
    text,
    /^Refused, so no figure counts\nslow: the generator used 99 % of its core\.\nAsk for less/,
  );
  assert.doesNotMatch(text, /ahead|Claims/);
});

test('findings have colours on a terminal', () => {
  const experiment = costExperiment();
  const results = judge(experiment, gatheredFrom(experiment, 6, half));
  const { NO_COLOR, TERM } = process.env;
  delete process.env.NO_COLOR;
  process.env.TERM = 'xterm';
  const text = table(experiment, results, { isTTY: true });
  Object.assign(
    process.env,
    NO_COLOR === undefined ? {} : { NO_COLOR },
    TERM === undefined ? {} : { TERM },
  );
  assert.ok(text.includes('\x1b[32mbetter\x1b[0m'), text);
});

test('the introduction names the question, the arms and what to know', () => {
  const text = introduction(costExperiment({ treatment: arms, about: 'A word before.' }));
  assert.equal(
    text,
    'Is it faster?\nArms: slow, fixed hold of 50 ms, adaptive, and slow once more.\nA word before.',
  );
});
