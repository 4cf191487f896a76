import { armsOf, armsOfRound, twinEveryAt } from './arms.js';
import { valueOfKey } from './loads/keys.js';
import { isMeasuredAt, LARGEST } from './sizes.js';

/** To start a server, to ask whether it is up and to stop it takes at least this long, s. */
const START_STOP_S = 1;

/**
 * What a run of an experiment measures.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ size?: import('./sizes.js').Size, rounds?: number }} options `rounds` of each case, in place of the experiment's own
 * @returns {{ arms: ReturnType<typeof armsOf>, cases: { at: import('./format.js').Case, rounds: number }[], twinEvery: number }}
 */
export function planOf(experiment, { size = LARGEST, rounds }) {
  const roundsAt = ({ rounds: most = Infinity }) =>
    rounds ?? Math.min(experiment.rounds[size], most);
  return {
    arms: armsOf(experiment, { size }),
    twinEvery: twinEveryAt(experiment, size),
    cases: experiment.cases
      .filter((each) => isMeasuredAt(size, each))
      .map((at) => ({ at, rounds: roundsAt(at) })),
  };
}

/** How many runs that is. @param {Parameters<typeof planOf>} plan @returns {number} */
export function stepsOf(experiment, options) {
  const { cases, ...plan } = planOf(experiment, options);
  return cases.reduce((sum, { rounds }) => sum + runsOf(plan, rounds), 0);
}

/** The runs of so many rounds of a case. @param {Pick<ReturnType<typeof planOf>, 'arms' | 'twinEvery'>} plan */
export function runsOf({ arms, twinEvery }, rounds) {
  const of = (round) => armsOfRound(arms, twinEvery, round).length;
  return Array.from({ length: rounds }, (_, i) => of(i + 1)).reduce((a, b) => a + b, 0);
}

/**
 * The least time of an experiment in s: the time of its load, and start and stop of each server. How long a program or a
 * single request takes is not known before, unless the load tells what it is expected to (`takes`).
 *
 * @param {Parameters<typeof planOf>} plan
 * @returns {number}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when a function of the load fails
 */
export function leastSecondsOf(experiment, options) {
  const { cases, ...plan } = planOf(experiment, options);
  const { size = LARGEST } = options;
  const secondsOf = ({ at, rounds }) =>
    (loadSeconds(experiment.load, { ...at, size, seed: 0 }) + START_STOP_S) * runsOf(plan, rounds);
  return cases.reduce((sum, each) => sum + secondsOf(each), 0);
}

/** What is not as it must be counts as nothing: the run itself says what is wrong with it. */
function loadSeconds(load, params) {
  const of = (key) => valueOfKey(load, key, params);
  const seconds = (value) => (Number.isFinite(value) ? value : 0);
  const { kind } = load;
  if (kind !== 'requests')
    return seconds(of('warmup')) + seconds(of('seconds')) + seconds(of('takes'));
  const last = (requests) =>
    [requests ?? []]
      .flat()
      .reduce((most, each) => Math.max(most, seconds(each?.at) / 1000 + seconds(each?.seconds)), 0);
  return last(of('warmup')) + Math.max(last(of('requests')), seconds(of('takes')));
}
