import { LabError } from '../load/errors.js';
import { randomFrom, shuffled } from '../stats/random.js';
import { hostRecord } from './host.js';
import { judge } from './judge.js';
import { isPinned, measure } from './measure.js';
import { needAllocations, needCollections } from './metrics.js';
import { armFor, armsOfRound, LARGEST, planOf, runsOf } from './plan.js';
import { asked, light, loadRecord, versionsOf } from './record.js';
import { idle, refusalOfRound, refused } from './refusal.js';

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
 * @param {import('./plan.js').Size} [options.size] which cases, treatments and rounds; default the largest
 * @param {number} options.seed of the order
 * @param {number} [options.rounds] in place of the experiment's own
 * @param {import('./format.js').Experiment[]} [options.sharing] others that will be judged by the same runs
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup its signal ends it; whole rounds are kept
 * @param {(told: Told) => void} [options.onRun] told of each run
 * @param {import('./journal.js').Journal} [options.journal] rounds that were made before are taken from it, and each new one is added
 * @param {number} [options.forS] seconds after which no further round is begun
 * @returns {Promise<Gathered>} resolves with what there is once there is a whole round, whatever ends it
 * @throws {LabError} those of `measure`, and `MILLRACE_LAB_E_EXPERIMENT` when a function of the experiment fails, before
 *   the first round is whole
 *
 * @typedef {object} Gathered
 * @property {Date} date when it began
 * @property {string[]} parts when each part of it began: several, when a run was gone on with
 * @property {number} seconds that it took, in all parts
 * @property {import('./plan.js').Size} size
 * @property {number} seed
 * @property {ReturnType<typeof hostRecord>} host
 * @property {string[]} cases labels of those that were to be measured
 * @property {{ role: import('./plan.js').Role, name: string, command: string[], env: Record<string, string> }[]} arms
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
 * @property {import('./record.js').AskedRun[]} runs in the order in which they were made
 * @property {string} [discarded] why it was made again; it counts for nothing
 *
 * @typedef {object} Told
 * @property {number} step from 1
 * @property {number} steps
 * @property {import('./record.js').AskedRun} run
 * @property {Record<string, number | null>} metrics of the run, by the first of the experiments
 */
export async function gather(experiment, { size = LARGEST, seed, cleanup, onRun, ...options }) {
  const random = randomFrom(seed);
  const plan = planOf(experiment, { size, rounds: options.rounds });
  const { arms, cases, twinEvery } = plan;
  const { journal, forS = Infinity } = options;
  const replay = [...(journal?.kept ?? [])];
  const judged = [experiment, ...(options.sharing ?? [])];
  const collections = needCollections(judged);
  const allocations = needAllocations(judged);
  const mistakes = new Map();
  /** Names of treatments of which a run of the first round has told whether they had something to act on, and what it has told. */
  const idleness = new Map();
  const stepsOfCase = ({ rounds: count }) => runsOf(plan, count);
  const sum = (list, of) => list.reduce((total, each) => total + of(each), 0);
  let steps = sum(cases, stepsOfCase);
  const date = journal?.date ?? new Date();
  const start = performance.now();
  const secondsNow = () => (performance.now() - start) / 1000;
  const rounds = [];
  let step = 0;
  let whole = 0;
  let isTimeUp = false;

  const host = hostRecord();
  try {
    for (const each of cases) await oneCase(each);
  } catch (error) {
    if (whole === 0) throw error;
    const isStopped = cleanup.signal.aborted;
    const why = isStopped ? 'stopped' : `ended by a failure (${error.message})`;
    return gathered({ partial: partialAs(why), error: isStopped ? null : error });
  }
  return gathered(isTimeUp ? { partial: partialAs('its time was up') } : {});

  function partialAs(why) {
    const of = sum(cases, (each) => each.rounds);
    return `${why} after ${whole} of ${of} rounds; the others were not measured`;
  }

  async function oneCase({ at, rounds: wanted }) {
    let repeats = Math.max(1, Math.floor(wanted * REPEATS));
    for (let round = 1; round <= wanted && !isTimeUp; ) {
      // The same numbers are drawn for a round that was made before.
      const order = shuffled(armsOfRound(arms, twinEvery, round), random);
      const outcome =
        replay.length > 0
          ? replayed(at, round, order)
          : await oneRound(at, { round, order, mayRepeat: repeats > 0 });
      if (outcome === 'hindered') repeats -= 1;
      else round += 1;
      isTimeUp = replay.length === 0 && secondsNow() >= forS;
      if (outcome !== 'refused') continue;
      // What is refused is not made again: the steps that are left are those of the other cases.
      const index = cases.findIndex((each) => each.at === at);
      steps = step + sum(cases.slice(index + 1), stepsOfCase);
      return;
    }
  }

  function replayed(at, number, order) {
    const { round, outcome } = replay.shift();
    if (round.case !== at.label || round.round !== number) {
      throw new LabError(
        'MILLRACE_LAB_E_RESULTS',
        `${journal.path} is damaged: it has round ${round.round} of ${round.case} in place of ${number} of ${at.label}`,
      );
    }
    rounds.push(round);
    const counted = countedRuns({ round, outcome });
    if (outcome === 'hindered') steps += counted;
    else if (counted === order.length) whole += 1;
    step += counted;
    return outcome;
  }

  /** @returns {Promise<'whole' | 'hindered' | 'refused'>} */
  async function oneRound(at, { round: number, order, mayRepeat }) {
    const round = { case: at.label, round: number, runs: [] };
    rounds.push(round);
    const outcome = await runsOfRound(at, round, { order, mayRepeat });
    journal?.add({ round, outcome, seconds: secondsNow() });
    return outcome;
  }

  async function runsOfRound(at, round, { order, mayRepeat }) {
    const { round: number, runs } = round;
    const params = paramsOf(at, number);
    for (const { role, arm } of order) {
      cleanup.signal.throwIfAborted();
      const ofCase = armFor(arm, params);
      const { load } = experiment;
      const asOf = { params, round: number, collections, allocations };
      const run = await measure({ role, arm: ofCase, load, ...asOf, cleanup });
      if (role === 'treatment' && number === 1) idleness.set(arm.name, idle(run, arm));
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
      if (kept.refusal?.kind === 'saturated' && number === 1) {
        await tellIdle(kept.refusal, order, { load, ...asOf, cleanup });
      }
      if (kept.refusal !== null) return 'refused';
      step += 1;
      const metrics = kept.metrics[experiment.name] ?? {};
      onRun?.({ step, steps, run: kept, metrics });
    }
    whole += 1;
    return refusalOfRound(runs) === null ? 'whole' : 'refused';
  }

  /**
   * A load that the generator cannot bring says nothing about a treatment, unless this had nothing to act on in the first place: then a way
   * out of the refusal would lead to the next one. A treatment that has not run yet runs once to tell.
   */
  async function tellIdle(refusal, order, options) {
    for (const { role, arm } of order) {
      if (role !== 'treatment' || arm.isIdle === undefined) continue;
      if (!idleness.has(arm.name)) {
        const run = await measure({ role, arm: armFor(arm, options.params), ...options });
        idleness.set(arm.name, idle(run, arm));
      }
      const found = idleness.get(arm.name);
      if (found === null) continue;
      refusal.why += `. Besides: ${found.why}`;
      refusal.advice += `. ${found.advice}`;
    }
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
    const params = cases.map(({ at }) => paramsOf(at, 1));
    return {
      ...{ date, size, seed, host, rounds, mistakes },
      parts: journal?.parts ?? [date.toISOString()],
      seconds: (journal?.secondsBefore ?? 0) + secondsNow(),
      cases: cases.map(({ at }) => at.label),
      arms: arms.map(({ role, arm }) => armRecord(role, armFor(arm, params[0]))),
      load: loadRecord(load, params),
      pinned: isPinned(load),
      versions: versionsOf(rounds.flatMap(({ runs }) => runs)),
      ...{ partial: null, error: null, ...ended },
    };
  }
}

/** Steps of a round: its runs but the one that was hindered. @param {import('./journal.js').Kept} kept */
export const countedRuns = ({ round, outcome }) =>
  outcome === 'hindered' ? round.runs.length - 1 : round.runs.length;

const armRecord = (role, { name, command, env = {} }) => ({ role, name, command, env });

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
