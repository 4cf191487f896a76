import { misplaced } from './active.js';
import { nameOf } from './arms.js';
import { differences } from './equal.js';

const ADVICE = {
  faults: 'Make every request succeed in all arms, or let those that may fail say so',
  saturated:
    'Ask for less (a lower rate, fewer connections), or give the generator a core of its own',
  unprobed:
    'The lab asks Node.js by NODE_OPTIONS: a command must add to it rather than set it. Set what an arm needs in its env ' +
    '(--control-env and --treatment-env NODE_OPTIONS=…), to which the lab adds its own',
  varies:
    'Leave out of bodies what changes from run to run, as times and process numbers: load.normalize (--ignore REGEX)',
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
    kind,
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

/** Whether all of one arm was seen from within and not all of the other, in a sentence. */
function probedApart(control, other) {
  const runs = [control, other].map(({ role, arm, unprobed = 0 }) => [nameOf(role, arm), unprobed]);
  const [none, some] = runs.sort(([, a], [, b]) => a - b);
  if (none[1] > 0 || some[1] === 0) return null;
  return `${some[0]}: the lab could not look into ${some[1]} of its Node.js processes, and into all of ${none[0]}`;
}

/**
 * Why the runs of a round cannot be compared: an arm did other work than the control.
 *
 * @param {import('./measure.js').Run[]} runs of one round
 * @returns {import('./errors.js').Refusal | null}
 */
export function refusalOfRound(runs) {
  const control = runs.find(({ role }) => role === 'control');
  const refusal = (kind, why) => ({ kind, why: atCase(control, why), advice: ADVICE[kind] });
  for (const other of runs.filter((run) => run !== control)) {
    if (control.crash || other.crash) continue;
    const unprobed = probedApart(control, other);
    if (unprobed) return refusal('unprobed', unprobed);
    const found = differences(control, other);
    if (found.length === 0) continue;
    const told = found.map(({ text }) => text).join('; ');
    // The same program has answered otherwise: that is not a difference between the arms.
    return other.role === 'twin' && found.every(({ what }) => what === 'payload')
      ? refusal('varies', `${told}: the body differs even between two runs of the control`)
      : refusal('unequal', told);
  }
  return null;
}

const atCase = (run, why) => (run.case === '' ? why : `case ${run.case}: ${why}`);
