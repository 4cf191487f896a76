import { armFor, armsOf } from './arms.js';
import { hostRecord } from './host.js';
import { measure } from './measure.js';
import { randomFrom, shuffled } from './random.js';
import { refusalOfRound, refusalOfRun } from './refusal.js';
import { valuesOf } from './values.js';

/** So often is a run made when its generator was the limit each time. */
const ATTEMPTS = 3;

/**
 * Makes the runs of an experiment: each case in rounds, in each round the control, its twin and every treatment once,
 * in random order, each on a server of its own. A case ends as soon as a run does not count or an arm of a round did other
 * work than the control; the others are made nevertheless.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {object} options
 * @param {boolean} [options.quick] only its quick cases, in few rounds
 * @param {number} options.seed of the order
 * @param {number} [options.rounds] in place of the experiment's own
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup its signal ends it; whole rounds are kept
 * @param {(told: Told) => void} [options.onRun] told of each run
 * @returns {Promise<Gathered>} resolves with what there is once there is a whole round, whatever ends it
 * @throws {LabError} those of `measure` before the first round is whole; `MILLRACE_LAB_E_EXPERIMENT` at any time when
 *   a function of the experiment fails
 *
 * @typedef {object} Gathered
 * @property {Date} date when it began
 * @property {number} seconds that it took
 * @property {boolean} quick
 * @property {number} seed
 * @property {ReturnType<typeof hostRecord>} host
 * @property {string[]} cases labels of those that were to be measured
 * @property {{ role: import('./arms.js').Role, name: string, command: string[], env: Record<string, string> }[]} arms
 *   as they are in the first case
 * @property {Round[]} rounds the last may lack runs
 * @property {string | null} partial why there are less rounds than wanted
 * @property {Error | null} error what ended it, if it was neither the end nor Ctrl-C
 *
 * @typedef {object} Round
 * @property {string} case
 * @property {number} round from 1
 * @property {import('./measure.js').Run[]} runs in the order in which they were made
 *
 * @typedef {object} Told
 * @property {number} step from 1
 * @property {number} steps
 * @property {number} secondsLeft by the mean of the steps so far
 * @property {import('./measure.js').Run} run
 * @property {Record<string, number | null>} metrics of the run
 */
export async function gather(experiment, { quick = false, seed, cleanup, onRun, ...options }) {
  const random = randomFrom(seed);
  const arms = armsOf(experiment);
  const cases = experiment.cases.filter((each) => !quick || (each.quick ?? true));
  const wanted = options.rounds ?? experiment.rounds[quick ? 'quick' : 'full'];
  let steps = cases.length * wanted * arms.length;
  const date = new Date();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const rounds = [];
  let step = 0;

  const gathered = (ended) => ({
    ...{ date, seconds: seconds(), quick, seed, host, rounds },
    cases: cases.map(({ label }) => label),
    arms: arms.map(({ role, arm }) => armRecord(role, armFor(arm, { ...cases[0], quick, seed }))),
    ...{ partial: null, error: null, ...ended },
  });
  const host = hostRecord();
  try {
    for (const at of cases) {
      for (let round = 1; round <= wanted; round += 1) {
        if (await oneRound(at, round)) continue;
        // What is refused is not made again: the steps that are left are those of the other cases.
        steps = step + (cases.length - 1 - cases.indexOf(at)) * wanted * arms.length;
        break;
      }
    }
  } catch (error) {
    const whole = rounds.filter(({ runs }) => runs.length === arms.length).length;
    if (whole === 0 || error.code === 'MILLRACE_LAB_E_EXPERIMENT') throw error;
    const isStopped = cleanup.signal.aborted;
    const why = isStopped ? 'stopped' : `ended by a failure (${error.message})`;
    const of = cases.length * wanted;
    const partial = `${why} after ${whole} of ${of} rounds; the others were not measured`;
    return gathered({ partial, error: isStopped ? null : error });
  }
  return gathered({});

  /** Whether it counts. */
  async function oneRound(at, round) {
    const params = { ...at, quick, seed: (seed + round) % 2 ** 32 };
    const { load } = experiment;
    const runs = [];
    rounds.push({ case: at.label, round, runs });
    for (const { role, arm } of shuffled(arms, random)) {
      cleanup.signal.throwIfAborted();
      const ofCase = armFor(arm, params);
      const run = await unhindered({ role, arm: ofCase, load, params, round, cleanup });
      runs.push(run);
      if (refusalOfRun(run, arm) !== null) return false;
      step += 1;
      const secondsLeft = (seconds() / step) * (steps - step);
      onRun?.({ step, steps, secondsLeft, run, metrics: valuesOf(experiment.metrics, run) });
    }
    return refusalOfRound(runs) === null;
  }
}

/** A run; made again when its generator was late or the limit, which other programs may have caused: the last counts. */
async function unhindered(options) {
  for (let made = 1; ; made += 1) {
    const run = await measure(options);
    const hindrance = run.saturated ?? run.late ?? null;
    if (hindrance === null || made === ATTEMPTS) {
      if (made > 1) run.notes.push('made again, as the load generator was late or the limit');
      if (run.late) run.notes.push(run.late);
      return run;
    }
  }
}

const armRecord = (role, { name, command, env = {} }) => ({ role, name, command, env });
