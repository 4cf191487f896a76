import { LabError } from '../load/errors.js';
import { differences, faultsOf } from './equal.js';
import { ask, refused } from './errors.js';
import { figure } from './figure.js';
import { hostRecord } from './host.js';
import { measure } from './measure.js';
import { randomFrom, shuffled } from './random.js';
import { judge } from './verdict.js';

const sides = ['control', 'treatment'];

/**
 * Runs an experiment: each case in rounds, in each round both arms in random order, each on a server of its
 * own. Refused as soon as a run does not count or two runs of a round were not the same work.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {object} options
 * @param {boolean} [options.quick] only its quick cases, in few rounds
 * @param {number} options.seed of the order
 * @param {number} [options.rounds] in place of the experiment's own
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup
 * @param {(told: Sample & { step: number, steps: number }) => void} [options.onRun] told of each run
 * @returns {Promise<Results>}
 * @throws {LabError} `MILLRACE_LAB_E_REFUSED` with the difference, `MILLRACE_LAB_E_EXPERIMENT` when a function of
 *   the experiment fails, and those of `measure`
 *
 * @typedef {object} Sample one run, as it is kept
 * @property {string} case
 * @property {number} round from 1
 * @property {'control' | 'treatment'} side
 * @property {string} arm
 * @property {Record<string, number | null>} metrics
 * @property {import('./measure.js').Costs} costs
 * @property {object[]} answers each with its times, status, size and hash, without its body
 *
 * @typedef {object} Results
 * @property {string} experiment
 * @property {string} question
 * @property {string} date ISO 8601
 * @property {boolean} quick
 * @property {number} seed
 * @property {number} seconds that it took
 * @property {ReturnType<typeof hostRecord>} host
 * @property {import('./figure.js').Figure[]} figures
 * @property {import('./verdict.js').Judged[]} claims
 * @property {string[]} notes
 * @property {Sample[]} runs in the order in which they were made
 */
export async function runExperiment(
  experiment,
  { quick = false, seed, cleanup, onRun, ...options },
) {
  const date = new Date();
  const host = hostRecord();
  const random = randomFrom(seed);
  const cases = experiment.cases.filter((each) => !quick || (each.quick ?? true));
  const rounds = options.rounds ?? experiment.rounds[quick ? 'quick' : 'full'];
  const steps = cases.length * rounds * sides.length;
  const runs = [];
  const figures = [];

  for (const at of cases) {
    const pairs = [];
    for (let round = 1; round <= rounds; round += 1) {
      const pair = {};
      for (const side of shuffled(sides, random)) pair[side] = await one(at, round, side);
      refuse(at, differences(pair.control.run, pair.treatment.run));
      pairs.push(pair);
    }
    for (const metric of experiment.metrics) {
      const values = (side) => pairs.map((pair) => pair[side].metrics[metric.name]);
      figures.push(
        figure(metric, at, { control: values('control'), treatment: values('treatment') }),
      );
    }
  }
  const results = {
    experiment: experiment.name,
    question: experiment.question,
    date: date.toISOString(),
    quick,
    seed,
    seconds: (Date.now() - date.getTime()) / 1000,
    host,
    figures,
    claims: judge(experiment.claims, figures, experiment.cases),
    notes: [],
    runs,
  };
  if (experiment.notes) results.notes = ask('notes', () => experiment.notes(results));
  return results;

  async function one(at, round, side) {
    const arm = experiment[side];
    const { load } = experiment;
    const run = await measure({ side, arm, load, params: { ...at, quick }, cleanup });
    refuse(
      at,
      faultsOf(run, arm).map((fault) => `${arm.name}: ${fault}`),
    );
    const metrics = valuesOf(experiment.metrics, run);
    runs.push(sample(run, round, metrics));
    onRun?.({ step: runs.length, steps, ...runs.at(-1) });
    return { run, metrics };
  }
}

function refuse(at, found) {
  if (found.length === 0) return;
  throw refused(`${at.label === '' ? '' : `case ${at.label}: `}${found.join('; ')}`);
}

function valuesOf(metrics, run) {
  return Object.fromEntries(
    metrics.map(({ name, of }) => {
      const value = ask(`metric ${name}`, () => of(run));
      if (value === null || Number.isFinite(value)) return [name, value];
      throw new LabError(
        'MILLRACE_LAB_E_EXPERIMENT',
        `metric ${name} gave ${value}; it must be a number, or null when the run cannot tell`,
      );
    }),
  );
}

function sample({ side, arm, case: label, costs, answers }, round, metrics) {
  return {
    ...{ case: label, round, side, arm, metrics, costs },
    answers: answers.map(({ request, json, ...answer }) => ({ name: request.name, ...answer })),
  };
}
