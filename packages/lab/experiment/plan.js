/**
 * The plan of a run: which cases, arms and rounds an experiment has at a size, and how long they take at least.
 *
 * A round measures the control, its twin (the same arm once more, whose difference is the noise) and each treatment. A long experiment may
 * leave the twin out of some rounds. Commands and environments may be functions of the case; they are called here, once per run.
 */

import { LabError } from '../load/errors.js';
import { ask, is, show } from './form.js';
import { valueOfKey } from './loads/keys.js';

/**
 * Sizes of a run, the smallest first. `quick` has few rounds and small cases, to look rather than to decide; `medium` decides what a few
 * rounds can; `paper` is of the size that was published, 50 rounds where an experiment has no number of its own. A case or a
 * treatment is measured from the size that its key `from` names, and in every larger one; without that key in all.
 */
export const SIZES = ['quick', 'medium', 'paper'];

/** @typedef {'quick' | 'medium' | 'paper'} Size */

/** The size of a run that nobody has given one. @type {Size} */
export const LARGEST = SIZES.at(-1);

/** @param {Size} size of a run @param {{ from?: Size }} what a case or a treatment */
export const isMeasuredAt = (size, { from = SIZES[0] }) =>
  SIZES.indexOf(from) <= SIZES.indexOf(size);

/**
 * A function of a run's params, for the keys of a load.
 *
 * @template Value
 * @param {Record<Size, Value>} values
 * @returns {(params: { size: Size }) => Value}
 */
export const bySize =
  (values) =>
  ({ size }) =>
    values[size];

/** For forms, see `form.js`. */
export const sizeRule = [
  SIZES.map((each) => `'${each}'`).join(', '),
  (value) => SIZES.includes(value),
];

/**
 * The arms of a round: control, its twin (the control once more, the A/A arm) and each treatment.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ size?: Size }} [options] of the run, which leaves out treatments that are of larger ones only
 * @returns {{ role: Role, arm: import('./format.js').Arm }[]}
 *
 * @typedef {'control' | 'twin' | 'treatment'} Role
 */
export function armsOf({ control, treatments }, { size = LARGEST } = {}) {
  return [
    { role: 'control', arm: control },
    { role: 'twin', arm: control },
    ...treatments
      .filter((arm) => isMeasuredAt(size, arm))
      .map((arm) => ({ role: 'treatment', arm })),
  ];
}

/** In every how many rounds of a run of that size there is a twin. */
export const twinEveryAt = ({ twinEvery }, size) => twinEvery?.[size] ?? 1;

/**
 * The arms of one round: the twin is in the first round, and from there in every so many.
 *
 * @template {{ role: Role }} Arm
 * @param {Arm[]} arms
 * @param {number} twinEvery see {@link twinEveryAt}
 * @param {number} round from 1
 * @returns {Arm[]}
 */
export const armsOfRound = (arms, twinEvery, round) =>
  arms.filter(({ role }) => role !== 'twin' || (round - 1) % twinEvery === 0);

/** Names a run or an arm of a round. */
export const nameOf = (role, name) => (role === 'twin' ? `${name} (A/A)` : name);

/**
 * An arm for one case: its command and its environment as they are there.
 *
 * @param {import('./format.js').Arm} arm
 * @param {import('./format.js').Params} params
 * @returns {import('./format.js').Arm & { command: string[], env?: Record<string, string> }}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when a function of it fails, or gives something else
 */
export function armFor(arm, params) {
  const { command, env } = arm;
  return {
    ...arm,
    command: resolved(arm, 'command', command, is.strings, params),
    ...(env !== undefined && { env: resolved(arm, 'env', env, is.texts, params) }),
  };
}

function resolved({ name }, key, value, [allowed, test], params) {
  if (typeof value !== 'function') return value;
  const given = ask(`${key} of ${name}`, () => value(params));
  if (test(given)) return given;
  throw new LabError(
    'MILLRACE_LAB_E_EXPERIMENT',
    `${key} of ${name} gave ${show(given)}; it must be ${allowed}`,
  );
}

/** Least time in s to start a server, to ask whether it is up and to stop it. */
const START_STOP_S = 1;

/**
 * Cases, arms and rounds of a run.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ size?: Size, rounds?: number }} options `rounds` of each case, in place of the experiment's own
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

/** Number of runs of a plan. @param {Parameters<typeof planOf>} plan @returns {number} */
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

/** Treats an invalid value as nothing: the run itself says what is wrong with it. */
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
