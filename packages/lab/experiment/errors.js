import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LabError } from '../load/errors.js';

/**
 * Why no figure of an experiment counts.
 *
 * @typedef {object} Refusal
 * @property {Kind} kind
 * @property {string} why what was found, with its figures
 * @property {string} advice what to do
 *
 * @typedef {'faults' | 'saturated' | 'off' | 'on in the control' | 'unprobed' | 'varies' | 'unequal'} Kind faults of a run; the
 *   generator was the limit; the feature was not at work in the treatment, or was in the control; not all processes could
 *   be looked into; bodies differ between two runs of the control; the arms did other work
 */

/**
 * @param {Refusal} refusal
 * @returns {LabError & Refusal} `MILLRACE_LAB_E_REFUSED`
 */
export function refused({ kind, why, advice }) {
  const message = `refused, so no figure counts: ${why}. ${advice}`;
  return Object.assign(new LabError('MILLRACE_LAB_E_REFUSED', message), { kind, why, advice });
}

/**
 * Calls a function of an experiment's file.
 *
 * @template Result
 * @param {string} what it is, for the message
 * @param {() => Result} call
 * @returns {Result}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when it throws; with file and line, where these are known
 */
export function ask(what, call) {
  try {
    return call();
  } catch (error) {
    throw new LabError(
      'MILLRACE_LAB_E_EXPERIMENT',
      `${what} of the experiment failed: ${error?.message ?? error}${placeOf(error)}`,
    );
  }
}

/** Where it was thrown, for the end of a message. */
function placeOf(error) {
  const [, url, line] = /(file:\/\/[^\s)]+?):(\d+):\d+/.exec(error?.stack ?? '') ?? [];
  return url === undefined ? '' : ` (${relative('', fileURLToPath(url))}:${line})`;
}
