import assert from 'node:assert/strict';
import test from 'node:test';
import { readExperiment } from '../format.js';
import { judge } from '../judge.js';
import { stepsOf } from '../plan.js';
import { costExperiment, gatheredFrom, metric } from './simulation.js';

const costs = (role, _, round) => ({
  cost: round * (role === 'treatment' ? 0.5 : 1) + round / 1e4,
});

test('the same runs give the same results, whenever they are judged', () => {
  const experiment = costExperiment();
  const gathered = gatheredFrom(experiment, 6, costs);
  const results = judge(experiment, gathered);
  assert.deepEqual(judge(experiment, gathered), results);
  assert.deepEqual(JSON.parse(JSON.stringify(results)), results, 'nothing that JSON does not hold');
  assert.equal(results.format, 1);
  assert.equal(results.date, '2026-01-01T00:00:00.000Z');
  assert.deepEqual(results.metrics, [{ name: 'cost', title: 'cost', unit: 's', better: 'lower' }]);
  assert.deepEqual(Object.keys(results.runs[0].metrics), ['cost']);
});

test('no round at all is said, and is no error', () => {
  const experiment = costExperiment({
    claim: { text: 't', source: 's', metric: 'cost', atLeast: 2 },
  });
  const results = judge(experiment, gatheredFrom(experiment, 0, costs));
  assert.deepEqual([results.figures, results.runs], [[], []]);
  assert.equal(results.claims[0].verdict, 'not measured');
});

test('only whole rounds are judged; all runs are kept', () => {
  const experiment = costExperiment();
  const gathered = gatheredFrom(experiment, 7, costs, { partial: 'stopped' });
  gathered.rounds.at(-1).runs.pop();
  const results = judge(experiment, gathered);
  assert.equal(results.figures[0].n, 6);
  assert.equal(results.runs.length, 20);
  assert.equal(results.partial, 'stopped');
  const noControl = gatheredFrom(experiment, 1, costs);
  noControl.rounds[0].runs.shift();
  assert.deepEqual(judge(experiment, noControl).figures, []);
});

test('each treatment is compared with the same control', () => {
  const isOn = ({ values: { isOn: on } }) => on === 1;
  const treatment = ['half', 'twice'].map((name) => ({ name, command: ['true'], isOn }));
  const experiment = costExperiment({ treatment });
  const changes = (role, arm, round) => ({
    cost: (round + round ** 2 / 1e4) * ({ half: 0.5, twice: 2 }[arm] ?? 1),
  });
  const { figures } = judge(experiment, gatheredFrom(experiment, 8, changes));
  assert.deepEqual(
    figures.map(({ arm, finding, ahead }) => [arm, finding, Number(ahead.toFixed(9))]),
    [
      ['half', 'better', 2],
      ['twice', 'worse', 0.5],
    ],
  );
});

test('another experiment may judge the same runs', () => {
  const base = costExperiment();
  const asks = {
    sameRunsAs: 'test',
    question: 'And twice of it?',
    metrics: [metric('double', 'lower', ({ values }) => 2 * values.cost)],
  };
  const shared = readExperiment(asks, 'shared', base);
  const gathered = gatheredFrom(base, 6, costs, {}, [shared]);
  const results = judge(shared, gathered);
  assert.equal(results.experiment, 'shared');
  const [of] = judge(base, gathered).figures;
  assert.equal(results.figures[0].control, 2 * of.control);
});

test('a case that is refused does not take the others along', () => {
  const told = [];
  const experiment = costExperiment({
    cases: [{ label: 'a' }, { label: 'b' }],
    claim: { text: 'half the cost', source: 'a paper', metric: 'cost', atLeast: 2 },
    notes: ({ figures }) => figures.map((figure) => told.push(figure.case) && figure.case),
  });
  const gathered = gatheredFrom(experiment, 6, (role, arm, round, label) => ({
    ...costs(role, arm, round),
    ...(label === 'a' && round === 3 && { saturated: 'it was at its limit' }),
    ...(round === 2 && { notes: ['it had to be killed'] }),
  }));
  const { refusal, figures, claims, notes } = judge(experiment, gathered);
  assert.equal(refusal, null);
  assert.deepEqual([...new Set(figures.map((figure) => figure.case))], ['b']);
  assert.deepEqual(
    claims.map(({ case: label, verdict }) => [label, verdict === 'refused']),
    [
      ['a', true],
      ['b', false],
    ],
  );
  assert.match(notes[0], /^Refused: case a: .*it was at its limit/);
  assert.ok(notes.includes('slow (A/A): it had to be killed (2 runs).'));
  assert.equal(notes.at(-1), 'b');
});

test('a claim is about the cases that were to be measured, and about all where it has none of them', () => {
  const claim = (cases) => ({
    ...{ text: 'half the cost', source: 'a paper', metric: 'cost', atLeast: 2 },
    ...(cases && { cases }),
  });
  const experiment = costExperiment({
    cases: [{ label: 'small' }, { label: 'large', from: 'paper' }],
    claim: [claim(), claim(['large'])],
  });
  const quick = { ...experiment, cases: [experiment.cases[0]] };
  const { claims } = judge(experiment, gatheredFrom(quick, 6, costs));
  assert.deepEqual(
    claims.map(({ case: label, verdict }) => [label, verdict === 'not measured']),
    [
      ['small', false],
      ['large', true],
    ],
  );
  assert.equal(claims[1].why, 'only in a run of a larger size');
});

test('rounds without a twin are whole, and A/A is of those that have one', () => {
  const experiment = costExperiment({ twinEvery: { paper: 3 } });
  const rounds = 18;
  const gathered = gatheredFrom(experiment, rounds, (role, _, round) => ({
    cost: (role === 'treatment' ? 50 : 100) + round + (role === 'twin' ? 1 : 0),
  }));
  for (const round of gathered.rounds) {
    round.runs = round.runs.filter(({ role }) => role !== 'twin' || round.round % 3 === 1);
  }
  const [found] = judge(experiment, gathered).figures;
  assert.deepEqual([found.n, found.values.twin.length], [rounds, 6]);
  // Rounds 1, 4, … 16.
  assert.deepEqual(found.twin.medians, [108.5, 109.5]);
  assert.ok(found.ahead > 1.7);
});

test('a quick run leaves out treatments that are not quick, and is whole without them', () => {
  const arm = { command: ['true'], isOn: ({ values }) => values.isOn === 1 };
  const claim = { text: 'half', source: 'a paper', metric: 'cost', atLeast: 2 };
  const experiment = costExperiment({
    treatment: [
      { ...arm, name: 'fast' },
      { ...arm, name: 'slow start', from: 'paper' },
    ],
    claim: [claim, { ...claim, text: 'of one', arms: ['slow start'] }],
  });
  assert.equal(stepsOf(experiment, { size: 'quick', rounds: 6 }), 18);
  assert.equal(stepsOf(experiment, { rounds: 6 }), 24);
  const [fast] = experiment.treatments;
  const made = gatheredFrom({ ...experiment, treatments: [fast] }, 6, costs, { size: 'quick' });
  const told = ({ figures, claims }) => [
    figures.map((each) => each.arm),
    claims.map(({ arm: name, verdict }) => [name, verdict === 'not measured']),
  ];
  assert.deepEqual(told(judge(experiment, made)), [
    ['fast'],
    [
      ['fast', false],
      ['slow start', true],
    ],
  ]);
  const full = told(judge(experiment, gatheredFrom(experiment, 6, costs)));
  assert.deepEqual(full[0], ['fast', 'slow start']);
  assert.deepEqual(
    full[1].map(([name]) => name),
    ['fast', 'slow start', 'slow start'],
  );
});

test('a refused result has no figure, and no notes', () => {
  const experiment = costExperiment({ notes: () => null.x });
  const gathered = gatheredFrom(experiment, 6, () => ({ saturated: 'it was at its limit' }));
  const results = judge(experiment, gathered);
  assert.match(results.refusal.why, /it was at its limit/);
  assert.deepEqual([results.figures, results.notes], [[], []]);
});

test('the feature not at work is found in the runs themselves', () => {
  const experiment = costExperiment();
  const { refusal } = judge(
    experiment,
    gatheredFrom(experiment, 6, () => ({ values: { cost: 1, isOn: 1 } })),
  );
  assert.match(refusal.why, /^slow: the feature was at work, and must not be/);
});

test('a round that was made again counts for nothing, is kept with its mark, and told', () => {
  const experiment = costExperiment();
  const gathered = gatheredFrom(experiment, 8, costs);
  const saturated = 'it was at its limit';
  for (const round of gathered.rounds.slice(2, 4)) {
    round.discarded = saturated;
    for (const run of round.runs) run.saturated = saturated;
  }
  const { refusal, figures, runs, notes } = judge(experiment, gathered);
  assert.equal(refusal, null);
  assert.equal(figures[0].n, 6);
  assert.deepEqual(
    runs.map(({ discarded }) => discarded === saturated),
    gathered.rounds.flatMap((_, i) => Array(3).fill(i === 2 || i === 3)),
  );
  assert.deepEqual(notes, [
    '2 rounds were made again, as the load generator was late or the limit.',
  ]);
});

test('a metric that fails in a late round is reported, and the rounds before it are judged', () => {
  const experiment = costExperiment();
  const gathered = gatheredFrom(experiment, 8, (role, arm, round) => ({
    ...costs(role, arm, round),
    ...(round === 7 && role === 'twin' && { values: { isOn: 0, cost: Number.NaN } }),
  }));
  const { partial, figures, runs } = judge(experiment, gathered);
  assert.match(partial, /^ended by a failure \(metric cost gave NaN.*\); later rounds were not/);
  assert.equal(figures[0].n, 6);
  assert.equal(runs.length, 24);
});

test('notes that fail leave the results', () => {
  const experiment = costExperiment({ notes: () => null.x });
  assert.throws(
    () => judge(experiment, gatheredFrom(experiment, 6, costs)),
    ({ code, results }) => {
      assert.equal(code, 'MILLRACE_LAB_E_EXPERIMENT');
      assert.deepEqual([results.figures.length, results.runs.length], [1, 18]);
      return true;
    },
  );
});
