import assert from 'node:assert/strict';
import test from 'node:test';
import { experimentNames, loadExperiment } from '../files.js';
import { readExperiment } from '../format.js';
import { experimentWith, moduleWith } from './support.js';

test('what a file leaves out has a default', () => {
  const { rounds, ...module } = moduleWith();
  const experiment = readExperiment(module, 'plain');
  assert.equal(experiment.name, 'plain');
  assert.deepEqual(experiment.claims, []);
  assert.deepEqual(experiment.cases, [{ label: '' }]);
  assert.deepEqual(experiment.rounds, { full: 5, quick: 2 });
  assert.equal(experiment.load.timeoutS, 600);
});

test('a claim may stand alone or in a list', () => {
  const claim = { text: 'twice', source: 'a paper', metric: 'one_ms', atLeast: 2 };
  assert.deepEqual(experimentWith({ claim }).claims, [claim]);
  assert.deepEqual(experimentWith({ claim: [claim] }).claims, [claim]);
});

const claim = { text: 'twice', source: 'a paper', metric: 'one_ms', atLeast: 2 };
const [metric] = moduleWith().metrics;
const cases = [{ label: 'a' }, { label: 'b', quick: false }];

const mistakes = {
  'question is missing; it must be a text': { question: undefined },
  'question is " "; it must be a text': { question: ' ' },
  'the key "treatmnt" is not known; allowed are "question"': { treatmnt: {} },
  'control.command is []; it must be a list of texts': { control: { command: [] } },
  'control.isOn is missing; it must be a function': { control: { isOn: undefined } },
  'treatment.env is {"N":1}; it must be an object of texts': { treatment: { env: { N: 1 } } },
  'the key "treatment.comand" is not known': { treatment: { comand: 'x' } },
  'both arms have the name "slow"': { treatment: { name: 'slow' } },
  'load.kind is "sockets"; it must be requests': { load: { kind: 'sockets' } },
  'load.kind is "constructor"; it must be requests': { load: { kind: 'constructor' } },
  'load.requests is []; it must be a function': { load: { requests: [] } },
  'load.timeoutS is 0; it must be a number from 1 to 3600': { load: { timeoutS: 0 } },
  'metrics is []; it must be a list that is not empty': { metrics: [] },
  'metrics[0] is null; it must be an object': { metrics: [null] },
  'metrics[0].better is "less"; it must be': { metrics: [{ ...metric, better: 'less' }] },
  'metrics has "one_ms" twice': { metrics: [metric, metric] },
  'cases[1].label is undefined; it must be a text': { cases: [{ label: 'a' }, {}] },
  'cases[0].quick is 1; it must be true or false': { cases: [{ label: 'a', quick: 1 }] },
  'cases has "a" twice': { cases: [{ label: 'a' }, { label: 'a' }] },
  'no case is quick; at least one must be': { cases: [{ label: 'a', quick: false }] },
  'rounds.quick is 0; it must be a whole number from 1 to 1000': { rounds: { full: 1, quick: 0 } },
  'claim[0].metric is "two_ms"; allowed are "one_ms"': { claim: { ...claim, metric: 'two_ms' } },
  'claim[1].atLeast is "2"; it must be a number above 0': {
    claim: [claim, { ...claim, atLeast: '2' }],
  },
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

test("each of the project's experiments is well formed", async () => {
  const names = experimentNames();
  assert.ok(names.length > 0);
  for (const name of names) assert.equal((await loadExperiment(name)).name, name);
});

test('an experiment that is not there is refused with those that are', async () => {
  await assert.rejects(loadExperiment('nothing'), /there is no experiment nothing; there are /);
  await assert.rejects(loadExperiment('/nowhere/nothing.js'), /experiment .*Cannot find module/);
});
