import { setTimeout as sleep } from 'node:timers/promises';
import { gather, isMeasuredAt, judge, LARGEST, stepsOf } from '@millrace/lab/experiment';

/** Ctrl-C goes to the whole group: a server may be seen to end before the signal is seen here. */
const SIGNAL_MS = 250;

/**
 * Experiments that smaller sizes leave out, by the smallest size that has them: no claim needs them that is not tested elsewhere, or their
 * tasks take too long.
 */
const FROM = {
  ...from('medium', 'chat-allocations', 'chat-files', 'chat-http-patterns', 'compute-container'),
  ...from('medium', 'compute-balanced', 'compute-fibonacci', 'compute-rsa'),
  ...from('paper', 'compute-algorithm', 'compute-api'),
};

function from(size, ...names) {
  return Object.fromEntries(names.map((name) => [name, size]));
}

/** Reports whether an experiment is measured by itself, with a page of its own: no document says anything of auto, and chat-paper takes hours. */
const isAlone = (name) => name.startsWith('auto-') || name === 'chat-paper';

/**
 * The names that a suite runs.
 *
 * @param {string[]} names all
 * @param {import('../../../packages/lab/experiment/plan.js').Size} size
 */
export const suiteNames = (names, size) =>
  names.filter((name) => !isAlone(name) && isMeasuredAt(size, { from: FROM[name] }));

/**
 * Runs experiments one after the other, each that shares runs with another by the runs of that one. What fails or is
 * refused is told, and the others run.
 *
 * @param {import('../../../packages/lab/experiment/format.js').Experiment[]} experiments
 * @param {object} options
 * @param {import('../../../packages/lab/experiment/plan.js').Size} [options.size] default the largest
 * @param {number} options.seed
 * @param {number} [options.rounds] in place of the experiments' own
 * @param {import('../../../packages/lab/run/cleanup.js').Cleanup} options.cleanup its signal ends it; what there is is kept
 * @param {(told: { step: number, steps: number, secondsLeft: number, experiment: string, run: object }) => void} [options.onRun]
 *   told of each run; `secondsLeft` of the whole suite, by the mean of its steps
 * @param {(entry: Entry) => void} [options.onEnd] told of each experiment
 * @returns {Promise<Suite>}
 *
 * @typedef {object} Entry how an experiment ended
 * @property {string} experiment
 * @property {string} question
 * @property {'done' | 'partial' | 'refused' | 'failed'} state
 * @property {string | null} why
 * @property {import('../../../packages/lab/experiment/judge.js').Results | null} results null when there is no whole round
 *
 * @typedef {object} Suite
 * @property {1} format
 * @property {string} date ISO 8601
 * @property {import('../../../packages/lab/experiment/plan.js').Size} size
 * @property {number} seed
 * @property {number} seconds
 * @property {boolean} stopped by Ctrl-C
 * @property {Entry[]} entries
 */
export async function runSuite(experiments, { size = LARGEST, onRun, onEnd, ...options }) {
  const { seed, rounds, cleanup } = options;
  const start = performance.now();
  const date = new Date().toISOString();
  const groups = groupsOf(experiments);
  let steps = groups.reduce((sum, [first]) => sum + stepsOf(first, { size, rounds }), 0);
  let step = 0;
  const entries = [];

  for (const group of groups) {
    if (cleanup.signal.aborted) break;
    const [first, ...sharing] = group;
    const end = step + stepsOf(first, { size, rounds });
    const told = ({ run }) => {
      step += 1;
      const secondsLeft = ((performance.now() - start) / 1000 / step) * (steps - step);
      onRun?.({ step, steps, secondsLeft, experiment: first.name, run });
    };
    const found = await gathered(first, { size, seed, rounds, sharing, cleanup, onRun: told });
    // Runs that will not be made, as something failed, are not waited for.
    steps -= end - step;
    // Stopped before there was anything to keep.
    if (cleanup.signal.aborted && found.gathered === null) break;
    for (const experiment of group) {
      const entry = entryOf(experiment, found);
      entries.push(entry);
      onEnd?.(entry);
    }
  }
  const seconds = (performance.now() - start) / 1000;
  return { format: 1, date, size, seed, seconds, stopped: cleanup.signal.aborted, entries };
}

/** Returns the measured experiments: the first of those that share runs. */
export const measuredOf = (experiments) => groupsOf(experiments).map(([first]) => first);

/** Groups the experiments that share runs, whoever made them first. */
function groupsOf(experiments) {
  const groups = new Map();
  for (const experiment of experiments) {
    const runs = experiment.sameRunsAs ?? experiment.name;
    groups.set(runs, [...(groups.get(runs) ?? []), experiment]);
  }
  return [...groups.values()];
}

async function gathered(experiment, options) {
  try {
    const found = await gather(experiment, options);
    if (found.error) await sleep(SIGNAL_MS);
    return { gathered: found, error: options.cleanup.signal.aborted ? null : found.error };
  } catch (error) {
    await sleep(SIGNAL_MS);
    return { gathered: null, error };
  }
}

function entryOf(experiment, { gathered: found, error }) {
  const { name, question } = experiment;
  const failed = ({ code, message }, results = null) => {
    const state = code === 'MILLRACE_LAB_E_REFUSED' ? 'refused' : 'failed';
    return { experiment: name, question, state, why: message, results };
  };
  if (found === null) return failed(error);
  let results;
  try {
    results = judge(experiment, found);
  } catch (mistake) {
    return failed(mistake, mistake.results);
  }
  const { refusal, partial } = results;
  if (refusal) {
    const why = `${refusal.why}. ${refusal.advice}`;
    return { experiment: name, question, state: 'refused', why, results };
  }
  const mistake = found.mistakes.get(name) ?? error;
  if (mistake) return failed(mistake, results);
  const state = partial === null ? 'done' : 'partial';
  return { experiment: name, question, state, why: partial, results };
}
