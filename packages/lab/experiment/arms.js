import { LabError } from '../load/errors.js';
import { ask } from './errors.js';
import { is, show } from './form.js';
import { isMeasuredAt, LARGEST } from './sizes.js';

/**
 * The arms of a round: control, its twin (the control once more, the A/A arm) and each treatment.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {{ size?: import('./sizes.js').Size }} [options] of the run, which leaves out treatments that are of larger ones only
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

/** What a run or an arm of a round is called. */
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
