import { armFor } from './arms.js';
import { codeOf } from './code.js';
import { pathOf } from './files.js';
import { hostRecord } from './host.js';
import { Journal } from './journal.js';
import { randomSeed } from './random.js';
import { loadRecord } from './record.js';
import { planOf } from './steps.js';

/**
 * The journal of a run: with `resume` the last one that was not ended, else a new one. An experiment of the command line alone has
 * none: its servers listen on other ports each time.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./args.js').Options & { folder: string }} options
 * @returns {{ journal: Journal | undefined, seed: number, hint: string | null }}
 * @throws {LabError} as `Journal`
 */
export function journalOf(experiment, { folder, name, resume, ...options }) {
  if (name === undefined) return { journal: undefined, seed: options.seed, hint: null };
  const last = Journal.last(folder, experiment.name);
  const unfinished = last && `an unfinished run (${last.kept.length} rounds, ${last.path})`;
  const isResumed = resume && last !== null;
  const seed = options.seed ?? (isResumed ? last.head.settings.seed : randomSeed());
  const head = headOf(experiment, pathOf(name), { ...options, seed });
  if (isResumed) {
    last.goOn(head);
    return { journal: last, seed, hint: `Going on with ${unfinished}.` };
  }
  const journal = Journal.begin(folder, head);
  if (resume) return { journal, seed, hint: 'There is no unfinished run: a new one begins.' };
  return { journal, seed, hint: last && `There is ${unfinished}; --resume goes on with it.` };
}

/** @returns {import('./journal.js').Head} */
function headOf(experiment, path, { size, samples, seed }) {
  const { load_average: _, ...machine } = hostRecord();
  const { arms, cases } = planOf(experiment, { size, rounds: samples });
  const params = cases.map(({ at }) => ({ ...at, size, seed }));
  const first = arms.map(({ arm }) => armFor(arm, params[0]));
  return {
    experiment: experiment.name,
    settings: {
      ...{ size, seed },
      rounds: Object.fromEntries(cases.map(({ at, rounds }) => [at.label, rounds])),
      arms: first.map(({ name, command, env }) => ({ name, command, env })),
      load: loadRecord(experiment.load, params),
    },
    machine,
    code: codeOf(path),
  };
}
