import { LabError } from '../load/errors.js';

/**
 * Why no figure of an experiment counts.
 *
 * @typedef {object} Refusal
 * @property {string} why what was found, with its figures
 * @property {string} advice what to do
 */

/**
 * @param {Refusal} refusal
 * @returns {LabError & Refusal} `MILLRACE_LAB_E_REFUSED`
 */
export function refused({ why, advice }) {
  const message = `refused, so no figure counts: ${why}. ${advice}`;
  return Object.assign(new LabError('MILLRACE_LAB_E_REFUSED', message), { why, advice });
}

/**
 * Calls a function of an experiment's file.
 *
 * @template Result
 * @param {string} what it is, for the message
 * @param {() => Result} call
 * @returns {Result}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when it throws
 */
export function ask(what, call) {
  try {
    return call();
  } catch (error) {
    throw new LabError(
      'MILLRACE_LAB_E_EXPERIMENT',
      `${what} of the experiment failed: ${error.message}`,
    );
  }
}
