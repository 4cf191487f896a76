import assert from 'node:assert/strict';
import test from 'node:test';
import { readExperiment } from '../format.js';
import { armFor } from '../plan.js';
import { experimentWith, moduleWith } from './support.js';

test('omitted keys of a file have defaults', () => {
  const { rounds, ...module } = moduleWith();
  const experiment = readExperiment(module, 'plain');
  assert.equal(experiment.name, 'plain');
  assert.deepEqual(experiment.claims, []);
  assert.deepEqual(experiment.cases, [{ label: '' }]);
  assert.deepEqual(experiment.rounds, { quick: 6, medium: 10, paper: 50 });
  assert.equal(experiment.sameRunsAs, null);
  assert.deepEqual(
    experiment.treatments.map(({ name }) => name),
    ['fast'],
  );
  assert.equal(experiment.load.timeoutS, 600);
});

test('a claim may stand alone or in a list', () => {
  const claim = { text: 'twice', source: 'a paper', metric: 'one_ms', atLeast: 2 };
  assert.deepEqual(experimentWith({ claim }).claims, [claim]);
  assert.deepEqual(experimentWith({ claim: [claim] }).claims, [claim]);
});

const claim = { text: 'twice', source: 'a paper', metric: 'one_ms', atLeast: 2 };
const [metric] = moduleWith().metrics;
const named = (name) => ({ name, command: ['true'], isOn: () => true });
const cases = [{ label: 'a' }, { label: 'b', from: 'paper' }];

const mistakes = {
  'question is missing; it must be a text': { question: undefined },
  'question is " "; it must be a text': { question: ' ' },
  'the key "treatmnt" is not known (did you mean "treatment"?); allowed are "question"': {
    treatmnt: {},
  },
  'control.command is []; it must be a list of texts': { control: { command: [] } },
  'control.isOn is missing; it must be a function': { control: { isOn: undefined } },
  'treatment.env is {"N":1}; it must be an object of texts': { treatment: { env: { N: 1 } } },
  'the key "treatment.comand" is not known (did you mean "command"?)': {
    treatment: { comand: 'x' },
  },
  'treatment.url is "3000"; it must be an address': { treatment: { url: '3000' } },
  'two arms have the name "slow"': { treatment: { name: 'slow' } },
  'two arms have the name "a"': { treatment: [named('a'), named('a')] },
  'treatment[1].isOn is missing': { treatment: [named('a'), { ...named('b'), isOn: undefined }] },
  'treatment is []; it must be an object, or a list of them': { treatment: [] },
  'treatment[1] is 7; it must be an object': { treatment: [named('a'), 7] },
  'load.kind is "sockets"; allowed are "requests"': { load: { kind: 'sockets' } },
  'load.kind is "constructor"; allowed are "requests"': { load: { kind: 'constructor' } },
  'load.requests is []; it must be a list': { load: { requests: [] } },
  'load.timeoutS is 0; it must be a number from 1 to 3600': { load: { timeoutS: 0 } },
  'metrics is []; it must be a list that is not empty': { metrics: [] },
  'metrics[0] is null; it must be an object': { metrics: [null] },
  'metrics[0].better is "less"; it must be': { metrics: [{ ...metric, better: 'less' }] },
  'metrics has "one_ms" twice': { metrics: [metric, metric] },
  'cases[1].label is undefined; it must be a text': { cases: [{ label: 'a' }, {}] },
  "cases[0].from is \"later\"; it must be 'quick', 'medium', 'paper'": {
    cases: [{ label: 'a', from: 'later' }],
  },
  'cases has "a" twice': { cases: [{ label: 'a' }, { label: 'a' }] },
  'no case is quick; at least one must be': { cases: [{ label: 'a', from: 'paper' }] },
  'control.from is "paper"; every run has the control': { control: { from: 'paper' } },
  'no treatment is quick; at least one must be': { treatment: { from: 'paper' } },
  "treatment[1].from is \"no\"; it must be 'quick', 'medium', 'paper'": {
    treatment: [named('a'), { ...named('b'), from: 'no' }],
  },
  'treatment.proof is "on"; it must be': { treatment: { proof: 'on' } },
  'twinEvery.paper is 11; it must be a whole number from 1 to 10': { twinEvery: { paper: 11 } },
  'cases[0].rounds is 0; it must be a whole number from 1 to 1000': {
    cases: [{ label: 'a', rounds: 0 }],
  },
  'rounds.quick is 0; it must be a whole number from 1 to 1000': { rounds: { quick: 0 } },
  'claim[0].metric is "two_ms"; allowed are "one_ms"': { claim: { ...claim, metric: 'two_ms' } },
  'claim[1].atLeast is "2"; it must be a number above 0': {
    claim: [claim, { ...claim, atLeast: '2' }],
  },
  'claim[0].arms is "slow"; allowed are "fast"': { claim: { ...claim, arms: ['slow'] } },
  'claim[0].cases is "c"; allowed are "a", "b"': { cases, claim: { ...claim, cases: ['c'] } },
  'claim[0].metric is "one_ms", which does not say what is better': {
    metrics: [{ ...metric, better: undefined }],
    claim,
  },
};

for (const [message, changes] of Object.entries(mistakes)) {
  test(`a mistake is named: ${message}`, () => {
    assert.throws(
      () => experimentWith(changes),
      (error) => {
        assert.equal(error.code, 'MILLRACE_LAB_E_EXPERIMENT');
        assert.ok(error.message.startsWith(`experiment test: ${message}`), error.message);
        return true;
      },
    );
  });
}

test('command and env may be functions of the case', () => {
  const command = ({ n }) => ['node', `${n}`];
  const { treatments } = experimentWith({
    treatment: { command, env: ({ n }) => ({ N: `${n}` }) },
  });
  const { command: made, env } = armFor(treatments[0], { label: 'a', n: 5 });
  assert.deepEqual([made, env], [['node', '5'], { N: '5' }]);
  const [plain] = experimentWith().treatments;
  assert.deepEqual(armFor(plain, {}).command, plain.command);
  const code = 'MILLRACE_LAB_E_EXPERIMENT';
  const wrong = { code, message: 'command of fast gave ["node",5]; it must be a list of texts' };
  assert.throws(() => armFor({ ...plain, command: () => ['node', 5] }, {}), wrong);
  const failing = { ...plain, env: () => null.x };
  assert.throws(() => armFor(failing, {}), {
    code,
    message: /^env of fast of the experiment failed/,
  });
});

test('an experiment may ask another question of the same runs', () => {
  const base = readExperiment({ ...moduleWith(), cases: [{ label: 'a' }, { label: 'b' }] }, 'base');
  const { question, metrics } = moduleWith();
  const asks = { sameRunsAs: 'base', question, metrics, claim: { ...claim, cases: ['b'] } };
  const shared = readExperiment(asks, 'shared', base);
  assert.deepEqual([shared.name, shared.sameRunsAs], ['shared', 'base']);
  for (const key of ['control', 'treatments', 'load', 'cases', 'rounds']) {
    assert.equal(shared[key], base[key], key);
  }
  const mistake = (changes, message) =>
    assert.throws(() => readExperiment({ ...asks, ...changes }, 'shared', base), { message });
  mistake({ rounds: { quick: 1, paper: 1 } }, /the key "rounds" is not known/);
  mistake({ claim: { ...claim, cases: ['c'] } }, /claim\[0\].cases is "c"; allowed are "a", "b"/);
  assert.throws(() => readExperiment(asks, 'shared'), /sameRunsAs is "base", which is not there/);
});
