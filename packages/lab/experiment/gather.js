import { armFor } from './arms.js';
import { asked, light } from './asked.js';
import { hostRecord } from './host.js';
import { isPinned, measure } from './measure.js';
import { needCollections } from './metrics.js';
import { randomFrom, shuffled } from './random.js';
import { loadRecord, versionsOf } from './record.js';
import { refusalOfRound } from './refusal.js';
import { LARGEST } from './sizes.js';
import { planOf } from './steps.js';

/** Share of the rounds of a case that are made again when the load generator was late or the limit. */
const REPEATS = 1 / 3;

/**
 * Makes the runs of an experiment: each case in rounds, in each round the control, its twin and every treatment once,
 * in random order, each on a server of its own. A case ends as soon as a run does not count or an arm of a round did other
 * work than the control; the others are made nevertheless. A round in which the load generator was late or the limit is
 * made again, all of it: a third of the rounds of a case may be, one at least. After that what is late counts without
 * latencies, and what was the limit does not count.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {object} options
 * @param {import('./sizes.js').Size} [options.size] which cases, treatments and rounds; default the largest
 * @param {number} options.seed of the order
 * @param {number} [options.rounds] in place of the experiment's own
 * @param {import('./format.js').Experiment[]} [options.sharing] others that will be judged by the same runs
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup its signal ends it; whole rounds are kept
 * @param {(told: Told) => void} [options.onRun] told of each run
 * @returns {Promise<Gathered>} resolves with what there is once there is a whole round, whatever ends it
 * @throws {LabError} those of `measure`, and `MILLRACE_LAB_E_EXPERIMENT` when a function of the experiment fails, before
 *   the first round is whole
 *
 * @typedef {object} Gathered
 * @property {Date} date when it began
 * @property {number} seconds that it took
 * @property {import('./sizes.js').Size} size
 * @property {number} seed
 * @property {ReturnType<typeof hostRecord>} host
 * @property {string[]} cases labels of those that were to be measured
 * @property {{ role: import('./arms.js').Role, name: string, command: string[], env: Record<string, string> }[]} arms
 *   as they are in the first case
 * @property {ReturnType<typeof loadRecord>} load
 * @property {boolean} pinned whether server and load had a core each
 * @property {ReturnType<typeof versionsOf>} versions
 * @property {Round[]} rounds the last may lack runs
 * @property {Map<string, Error>} mistakes by experiment: what ended the judging of those whose metrics have failed
 * @property {string | null} partial why there are less rounds than wanted
 * @property {Error | null} error what ended it, if it was neither the end nor Ctrl-C
 *
 * @typedef {object} Round
 * @property {string} case
 * @property {number} round from 1
 * @property {import('./asked.js').AskedRun[]} runs in the order in which they were made
 * @property {string} [discarded] why it was made again; it counts for nothing
 *
 * @typedef {object} Told
 * @property {number} step from 1
 * @property {number} steps
 * @property {import('./asked.js').AskedRun} run
 * @property {Record<string, number | null>} metrics of the run, by the first of the experiments
 */
export async function gather(experiment, { size = LARGEST, seed, cleanup, onRun, ...options }) {
  const random = randomFrom(seed);
  const plan = planOf(experiment, { size, rounds: options.rounds });
  const { arms, cases, rounds: wanted } = plan;
  const judged = [experiment, ...(options.sharing ?? [])];
  const collections = needCollections(judged);
  const mistakes = new Map();
  let steps = cases.length * wanted * arms.length;
  const date = new Date();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const rounds = [];
  let step = 0;
  let whole = 0;

  const host = hostRecord();
  try {
    for (const at of cases) await oneCase(at);
  } catch (error) {
    if (whole === 0) throw error;
    const isStopped = cleanup.signal.aborted;
    const why = isStopped ? 'stopped' : `ended by a failure (${error.message})`;
    const of = cases.length * wanted;
    const partial = `${why} after ${whole} of ${of} rounds; the others were not measured`;
    return gathered({ partial, error: isStopped ? null : error });
  }
  return gathered({});

  async function oneCase(at) {
    let repeats = Math.max(1, Math.floor(wanted * REPEATS));
    for (let round = 1; round <= wanted; ) {
      const outcome = await oneRound(at, round, repeats > 0);
      if (outcome === 'hindered') repeats -= 1;
      else round += 1;
      if (outcome !== 'refused') continue;
      // What is refused is not made again: the steps that are left are those of the other cases.
      steps = step + (cases.length - 1 - cases.indexOf(at)) * wanted * arms.length;
      return;
    }
  }

  /** @returns {Promise<'whole' | 'hindered' | 'refused'>} */
  async function oneRound(at, number, mayRepeat) {
    const params = paramsOf(at, number);
    const runs = [];
    const round = { case: at.label, round: number, runs };
    rounds.push(round);
    for (const { role, arm } of shuffled(arms, random)) {
      cleanup.signal.throwIfAborted();
      const ofCase = armFor(arm, params);
      const { load } = experiment;
      const asOf = { params, round: number, collections };
      const run = await measure({ role, arm: ofCase, load, ...asOf, cleanup });
      const hindrance = run.saturated ?? run.late ?? null;
      if (hindrance !== null && mayRepeat) {
        // Other programs may have caused it. To make this run alone again would favour what hinders least.
        round.discarded = hindrance;
        steps += runs.length;
        runs.push(light(run));
        return 'hindered';
      }
      if (run.late) run.notes.push(run.late);
      const kept = told(run, arm);
      runs.push(kept);
      if (kept.refusal !== null) return 'refused';
      step += 1;
      const metrics = kept.metrics[experiment.name] ?? {};
      onRun?.({ step, steps, run: kept, metrics });
    }
    whole += 1;
    return refusalOfRound(runs) === null ? 'whole' : 'refused';
  }

  /** Fails when no experiment is left that could be judged; the run is kept. */
  function told(run, arm) {
    try {
      const kept = asked(run, arm, judged, mistakes);
      if (mistakes.size === judged.length) throw mistakes.get(experiment.name);
      return kept;
    } catch (error) {
      rounds.at(-1).runs.push(light(run));
      throw error;
    }
  }

  function paramsOf(at, round) {
    return { ...at, size, seed: (seed + round) % 2 ** 32 };
  }

  function gathered(ended) {
    const { load } = experiment;
    const params = cases.map((at) => paramsOf(at, 1));
    return {
      ...{ date, seconds: seconds(), size, seed, host, rounds, mistakes },
      cases: cases.map(({ label }) => label),
      arms: arms.map(({ role, arm }) => armRecord(role, armFor(arm, params[0]))),
      load: loadRecord(load, params),
      pinned: isPinned(load),
      versions: versionsOf(rounds.flatMap(({ runs }) => runs)),
      ...{ partial: null, error: null, ...ended },
    };
  }
}

const armRecord = (role, { name, command, env = {} }) => ({ role, name, command, env });
