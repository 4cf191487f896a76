import { LabError } from '../load/errors.js';
import { nameOf } from './arms.js';
import { ask } from './errors.js';

/**
 * Whether the feature under test was at work where it has to be: seen in a run of the treatment, and not in one of
 * the control or its twin.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @returns {import('./errors.js').Refusal | null} null when all is well
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when `isOn` fails, or says neither true nor false
 */
export function misplaced(run, arm) {
  const isOn = ask(`isOn of ${arm.name}`, () => arm.isOn(run));
  if (typeof isOn !== 'boolean') {
    throw new LabError(
      'MILLRACE_LAB_E_EXPERIMENT',
      `isOn of ${arm.name} gave ${isOn}; it must be true or false`,
    );
  }
  if (isOn === (run.role === 'treatment')) return null;
  const name = nameOf(run.role, arm.name);
  return isOn
    ? {
        kind: 'on in the control',
        why: `${name}: the feature was at work in the control`,
        advice: 'Start the control without it, or let isOn look for what only the treatment shows',
      }
    : {
        kind: 'off',
        why: `${name}: the feature was not at work in the treatment`,
        advice: 'Switch it on in the treatment, or let isOn look for what shows that it is on',
      };
}
