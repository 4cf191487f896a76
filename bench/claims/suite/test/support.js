import { readFileSync } from 'node:fs';
import { readExperiment } from '../../../../packages/lab/experiment/format.js';
import { judge } from '../../../../packages/lab/experiment/judge.js';
import { armsOf } from '../../../../packages/lab/experiment/plan.js';
import { asked } from '../../../../packages/lab/experiment/record.js';

const metric = (name, of) => ({ name, title: name, unit: 'ms', better: 'lower', of });

/** One that asks the same runs for something else. */
export function sharedExperiment(name, base) {
  const metrics = [metric('twice_ms', ({ values }) => 2 * values.ms)];
  return readExperiment(
    { question: 'And twice that?', sameRunsAs: base.name, metrics },
    name,
    base,
  );
}

export const runsIn = (file) => readFileSync(file, 'latin1').length;

/**
 * How an experiment ended whose treatment takes so long in each round, where the control takes 100 ms: judged from these
 * values, without a run.
 *
 * @param {string} name
 * @param {number[]} values ms, of the treatment
 * @param {object} [claim] changes to `{ metric: 'ms', atLeast: 2 }`
 */
export function entryOf(name, values, claim) {
  const arm = (which) => ({ name: which, command: ['true'], isOn: ({ arm: at }) => at === 'fast' });
  const experiment = readExperiment(
    {
      question: `What of ${name}?`,
      control: arm('slow'),
      treatment: arm('fast'),
      load: { kind: 'program' },
      metrics: [metric('ms', (run) => run.values.ms)],
      claim: { text: 'Twice', source: 'a book', metric: 'ms', atLeast: 2, ...claim },
    },
    name,
  );
  const run = (role, at, round, ms) => ({
    ...{ role, arm: at, case: '', round, startedAt: '2026-01-01T00:00:00Z', values: { ms } },
    ...{
      isClosed: true,
      work: [{ name: 'task', answers: 1, status: {}, bytes: 0, payload: null }],
    },
    ...{ latency: null, percentiles: null, series: {}, saturated: null, faults: [], notes: [] },
    ...{ costs: { wallS: 1, cpuS: 1, othersS: 0 }, probe: null, output: '', crash: null },
  });
  // A little noise: without any nothing can be said of it.
  const about = (ms, i) => ms + (i % 3) / 10;
  const rounds = values.map((ms, i) => ({
    case: '',
    round: i + 1,
    runs: [
      run('control', 'slow', i + 1, about(100, i)),
      run('twin', 'slow', i + 1, about(100, i + 1)),
      run('treatment', 'fast', i + 1, ms),
    ].map((each, at) => asked(each, armsOf(experiment)[at].arm, [experiment])),
  }));
  const host = { cpu: 'a processor', cores: 2, kernel: 'Linux', node: 'v20' };
  const arms = ['control', 'twin', 'treatment'].map((role) => ({
    ...{ role, name: role === 'treatment' ? 'fast' : 'slow', command: [], env: {} },
  }));
  const gathered = {
    ...{ date: new Date(0), seconds: 1, size: 'quick', seed: 1, host, cases: [''], arms, rounds },
    ...{ partial: null, error: null, mistakes: new Map() },
  };
  const results = judge(experiment, gathered);
  return { experiment: name, question: experiment.question, state: 'done', why: null, results };
}

/** @param {object[]} entries */
export const suiteOf = (entries) => ({
  ...{ format: 1, date: '2026-01-01T00:00:00.000Z', size: 'quick', seed: 1, seconds: 60 },
  ...{ stopped: false, entries },
});
