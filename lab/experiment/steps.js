import { armsOf } from './arms.js';

/**
 * What a run of an experiment measures.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ quick?: boolean, rounds?: number }} options `rounds` in place of the experiment's own
 * @returns {{ cases: import('./format.js').Case[], rounds: number }} rounds of each case
 */
export function planOf(experiment, { quick = false, rounds }) {
  return {
    cases: experiment.cases.filter((each) => !quick || (each.quick ?? true)),
    rounds: rounds ?? experiment.rounds[quick ? 'quick' : 'full'],
  };
}

/** How many runs that is. @param {Parameters<typeof planOf>} plan @returns {number} */
export function stepsOf(experiment, options) {
  const { cases, rounds } = planOf(experiment, options);
  return cases.length * rounds * armsOf(experiment).length;
}
