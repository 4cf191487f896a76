import { misplaced } from './active.js';
import { nameOf } from './arms.js';
import { differences } from './equal.js';

const ADVICE = {
  faults: 'Make every request succeed in all arms, or let those that may fail say so',
  saturated:
    'Ask for less (a lower rate, fewer connections), or give the generator a core of its own',
  unequal: 'Make the arms do the same work: the same answers to the same requests',
};

/**
 * Why a run does not count: it has faults, its generator was the limit, or the feature was not where it belongs.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @returns {import('./errors.js').Refusal | null}
 * @throws {LabError} as {@link misplaced}
 */
export function refusalOfRun(run, arm) {
  const name = nameOf(run.role, arm.name);
  const refusal = (kind, found) => ({
    why: atCase(run, found.map((each) => `${name}: ${each}`).join('; ')),
    advice: ADVICE[kind],
  });
  // What has failed says nothing about the feature.
  if (run.faults.length > 0) return refusal('faults', run.faults);
  if (run.saturated !== null) return refusal('saturated', [run.saturated]);
  // Where a crash is a result there is nothing left to ask.
  if (run.crash) return null;
  const found = misplaced(run, arm);
  return found && { ...found, why: atCase(run, found.why) };
}

/**
 * Why the runs of a round cannot be compared: an arm did other work than the control.
 *
 * @param {import('./measure.js').Run[]} runs of one round
 * @returns {import('./errors.js').Refusal | null}
 */
export function refusalOfRound(runs) {
  const control = runs.find(({ role }) => role === 'control');
  for (const other of runs.filter((run) => run !== control)) {
    if (control.crash || other.crash) continue;
    const found = differences(control, other);
    if (found.length > 0) return { why: atCase(control, found.join('; ')), advice: ADVICE.unequal };
  }
  return null;
}

const atCase = (run, why) => (run.case === '' ? why : `case ${run.case}: ${why}`);
