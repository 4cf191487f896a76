import { LabError } from '../load/errors.js';

/** Two arms that cannot be compared. */
export function refused(why) {
  return new LabError('MILLRACE_LAB_E_REFUSED', `refused, so no figure counts: ${why}`);
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
