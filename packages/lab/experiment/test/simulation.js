import { gaussian } from '../../stats/normal.js';
import { randomFrom } from '../../stats/random.js';
import { hostRecord } from '../host.js';
import { judge } from '../judge.js';
import { armsOf } from '../plan.js';
import { asked } from '../record.js';
import { experimentWith } from './support.js';

/** A run as `measure` gives it: 100 answers, `values.cost` and the feature on in the treatment. */
export function runWith({ role = 'control', arm, cost = 1, ...changes } = {}) {
  return {
    ...{ role, arm: arm ?? (role === 'treatment' ? 'fast' : 'slow'), case: '', round: 1 },
    startedAt: '2026-01-01T00:00:00.000Z',
    isClosed: true,
    work: [groupWith()],
    values: { cost, isOn: role === 'treatment' ? 1 : 0 },
    ...{ latency: null, percentiles: null, series: {}, saturated: null, faults: [] },
    ...{ costs: { wallS: 1 }, probe: null, output: '' },
    ...changes,
  };
}

export const groupWith = (changes) => ({
  ...{ name: 'one', answers: 100, status: { 200: 100 }, bytes: 100, payload: 'aa' },
  ...changes,
});

const isOn = ({ values }) => values.isOn === 1;

/** An experiment whose metric is the cost of a run; for `gatheredFrom`. */
export const costExperiment = (changes = {}) =>
  experimentWith({
    control: { isOn },
    treatment: { isOn },
    metrics: [metric('cost', 'lower')],
    ...changes,
  });

export const metric = (name, better, of = ({ values }) => values[name]) => ({
  ...{ name, title: name, unit: 's', of },
  ...(better && { better }),
});

/**
 * What `gather` would give.
 *
 * @param {(role: string, arm: string, round: number, label: string) => object} changes of each run
 * @param {object} [more] changes of it
 * @param {object[]} [sharing] other experiments that are judged by it
 */
export function gatheredFrom(experiment, rounds, changes, more = {}, sharing = []) {
  const mistakes = new Map();
  const cases = experiment.cases.map(({ label }) => label);
  const one = (label, round) => ({
    ...{ case: label, round },
    runs: armsOf(experiment).map(({ role, arm }) => {
      const changed = changes(role, arm.name, round, label);
      const run = runWith({ role, arm: arm.name, case: label, round, ...changed });
      return asked(run, arm, [experiment, ...sharing], mistakes);
    }),
  });
  return {
    ...{ date: new Date('2026-01-01'), seconds: 1, size: 'paper', seed: 1, host: hostRecord() },
    ...{ cases, arms: [], partial: null, error: null, mistakes },
    ...{ load: { kind: 'requests', cases: [] }, pinned: true, versions: { lab: '0.1.0' } },
    rounds: cases.flatMap((label) => Array.from({ length: rounds }, (_, i) => one(label, i + 1))),
    ...more,
  };
}

/** Figures of one experiment of given costs a round, through `judge`. */
export function judgedCosts(
  { control, twin = control, treatment },
  { experiment, ...options } = {},
) {
  const asked = experiment ?? costExperiment();
  const costs = { control, twin, treatment };
  const gathered = gatheredFrom(asked, control.length, (role, _, round) => ({
    cost: costs[role][round - 1],
  }));
  return judge(asked, gathered, options);
}

/**
 * Simulated experiments: each run costs the same, times the noise of its round and its own, both log-normal.
 *
 * @param {{ experiments: number, rounds: number, ratio: number, noise: number, seed: number }} options
 * @returns {import('../figure.js').Figure[]} one of each experiment
 */
export function simulated({ experiments, rounds, ratio, noise, seed }) {
  const random = randomFrom(seed);
  const experiment = costExperiment();
  return Array.from({ length: experiments }, () => {
    const ofRound = Array.from({ length: rounds }, () => Math.exp(0.3 * gaussian(random)));
    const arm = (times) => ofRound.map((all) => all * times * Math.exp(noise * gaussian(random)));
    const costs = { control: arm(1), twin: arm(1), treatment: arm(ratio) };
    return judgedCosts(costs, { experiment }).figures[0];
  });
}
