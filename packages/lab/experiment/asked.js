import { refusalOfRun } from './refusal.js';
import { valuesOf } from './values.js';

/**
 * Asks a run all that will be judged of it, and lets go of what only that needs and what would fill the memory over many
 * rounds: the bodies of answers, what the server wrote, what a program printed.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @param {Pick<import('./format.js').Experiment, 'name' | 'metrics'>[]} experiments that are judged by it
 * @param {Map<string, Error>} [mistakes] by experiment: those whose metrics have failed, which are asked no more
 * @returns {AskedRun}
 * @throws {LabError} as `misplaced`
 *
 * @typedef {object} Asked
 * @property {import('./errors.js').Refusal | null} refusal why the run does not count
 * @property {Record<string, Record<string, number | null>>} metrics by experiment; none where they have failed, and of a
 *   run that has faults: it may lack what they are made of
 * @typedef {Omit<import('./measure.js').Run, 'output' | 'proof' | 'first' | 'json' | 'stats'> & Asked} AskedRun
 */
export function asked(run, arm, experiments, mistakes = new Map()) {
  const refusal = refusalOfRun(run, arm);
  const metrics = {};
  for (const experiment of run.faults.length > 0 ? [] : experiments) {
    if (mistakes.has(experiment.name)) continue;
    try {
      metrics[experiment.name] = valuesOf(experiment.metrics, run);
    } catch (error) {
      mistakes.set(experiment.name, error);
    }
  }
  return { ...light(run), refusal, metrics };
}

/** A run without what is heavy. */
export function light({ output, proof, first, json, stats, answers, ...run }) {
  return { ...run, ...(answers && { answers: answers.map(withoutBody) }) };
}

const withoutBody = ({ request, json, ...answer }) => ({ name: request.name, ...answer });
