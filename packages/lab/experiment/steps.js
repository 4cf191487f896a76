import { armsOf } from './arms.js';
import { valueOfKey } from './loads/keys.js';
import { isMeasuredAt, LARGEST } from './sizes.js';

/** To start a server, to ask whether it is up and to stop it takes at least this long, s. */
const START_STOP_S = 1;

/**
 * What a run of an experiment measures.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ size?: import('./sizes.js').Size, rounds?: number }} options `rounds` in place of the experiment's own
 * @returns {{ arms: ReturnType<typeof armsOf>, cases: import('./format.js').Case[], rounds: number }} rounds of each case
 */
export function planOf(experiment, { size = LARGEST, rounds }) {
  return {
    arms: armsOf(experiment, { size }),
    cases: experiment.cases.filter((each) => isMeasuredAt(size, each)),
    rounds: rounds ?? experiment.rounds[size],
  };
}

/** How many runs that is. @param {Parameters<typeof planOf>} plan @returns {number} */
export function stepsOf(experiment, options) {
  const { arms, cases, rounds } = planOf(experiment, options);
  return cases.length * rounds * arms.length;
}

/**
 * How long an experiment takes, s, or longer: the time of its load, and start and stop of each server. What a program or
 * a single request takes is not known before.
 *
 * @param {Parameters<typeof planOf>} plan
 * @returns {number}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when a function of the load fails
 */
export function leastSecondsOf(experiment, options) {
  const { arms, cases, rounds } = planOf(experiment, options);
  const { size = LARGEST } = options;
  const ofRuns = cases.map(
    (at) => loadSeconds(experiment.load, { ...at, size, seed: 0 }) + START_STOP_S,
  );
  return ofRuns.reduce((a, b) => a + b, 0) * rounds * arms.length;
}

/** What is not as it must be counts as nothing: the run itself says what is wrong with it. */
function loadSeconds(load, params) {
  const of = (key) => valueOfKey(load, key, params);
  const seconds = (value) => (Number.isFinite(value) ? value : 0);
  if (load.kind !== 'requests') return seconds(of('warmup')) + seconds(of('seconds'));
  const last = (requests) =>
    [requests ?? []]
      .flat()
      .reduce((most, each) => Math.max(most, seconds(each?.at) / 1000 + seconds(each?.seconds)), 0);
  return last(of('warmup')) + last(of('requests'));
}
