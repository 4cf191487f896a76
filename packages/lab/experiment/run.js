import { refused } from './errors.js';
import { gather } from './gather.js';
import { judge } from './judge.js';

/**
 * Runs an experiment: gathers its rounds and judges them.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {Parameters<typeof gather>[1] & { effect?: number }} options of `gather`, and `effect` of `judge`
 * @returns {Promise<import('./judge.js').Results>} `partial` when Ctrl-C has ended it after a whole round
 * @throws {LabError} `MILLRACE_LAB_E_REFUSED` with `why` and `advice`; those of `gather`, also when they have ended it
 *   midway. `results` of such an error is what was gathered until then, if there is a run
 */
export async function runExperiment(experiment, { effect, ...options }) {
  const gathered = await gather(experiment, options);
  const results = judge(experiment, gathered, { effect });
  const error = results.refusal ? refused(results.refusal) : gathered.error;
  if (error) throw Object.assign(error, { results });
  return results;
}
