import { armsOf } from './arms.js';

/** To start a server, to ask whether it is up and to stop it takes so long, s, or longer. */
const START_STOP_S = 1;

/**
 * What a run of an experiment measures.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ quick?: boolean, rounds?: number }} options `rounds` in place of the experiment's own
 * @returns {{ arms: ReturnType<typeof armsOf>, cases: import('./format.js').Case[], rounds: number }} rounds of each case
 */
export function planOf(experiment, { quick = false, rounds }) {
  return {
    arms: armsOf(experiment, { quick }),
    cases: experiment.cases.filter((each) => !quick || (each.quick ?? true)),
    rounds: rounds ?? experiment.rounds[quick ? 'quick' : 'full'],
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
 */
export function leastSecondsOf(experiment, options) {
  const { arms, cases, rounds } = planOf(experiment, options);
  const { quick = false } = options;
  const ofRuns = cases.map(
    (at) => loadSeconds(experiment.load, { ...at, quick, seed: 0 }) + START_STOP_S,
  );
  return ofRuns.reduce((a, b) => a + b, 0) * rounds * arms.length;
}

function loadSeconds(load, params) {
  const of = (key) => (typeof load[key] === 'function' ? load[key](params) : load[key]);
  if (load.kind !== 'requests') return (of('warmup') ?? 0) + (of('seconds') ?? 0);
  const last = (requests = []) =>
    requests.reduce((most, { at = 0, seconds = 0 }) => Math.max(most, at / 1000 + seconds), 0);
  return last(of('warmup')) + last(of('requests'));
}
