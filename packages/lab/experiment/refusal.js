/**
 * Refusals: when no figure of an experiment counts, because its runs cannot be compared.
 *
 * A run by itself is refused for faults, for a load generator that was the limit, for a feature that was at work in the control or not at
 * work in the treatment, and in the first round for a feature that had nothing to act on. The runs of a round are refused when an arm did other work than the control. Each refusal says what was found, with
 * its figures, and what to do.
 */

import { LabError } from '../load/errors.js';
import { ask } from './form.js';
import { nameOf } from './plan.js';

/**
 * Reason why no figure of an experiment counts.
 *
 * @typedef {object} Refusal
 * @property {Kind} kind
 * @property {string} why what was found, with its figures
 * @property {string} advice what to do
 *
 * @typedef {'faults' | 'saturated' | 'off' | 'on in the control' | 'idle' | 'unprobed' | 'varies' | 'unequal'} Kind faults of a run; the
 *   generator was the limit; the feature was not at work in the treatment, or was in the control; it had
 *   nothing to act on; not all processes could be looked into; bodies differ between two runs of the control; the arms did other work
 */

/**
 * @param {Refusal} refusal
 * @returns {LabError & Refusal} `MILLRACE_LAB_E_REFUSED`
 */
export function refused({ kind, why, advice }) {
  const message = `refused, so no figure counts: ${why}. ${advice}`;
  return Object.assign(new LabError('MILLRACE_LAB_E_REFUSED', message), { kind, why, advice });
}

const ADVICE = {
  faults: 'Make every request succeed in all arms, or let those that may fail say so',
  saturated:
    'Ask for less (a lower rate, fewer connections), or give the generator a core of its own',
  unprobed:
    'The lab looks into Node.js by NODE_OPTIONS: a command must add to it rather than set it, as in ' +
    'NODE_OPTIONS="$NODE_OPTIONS --expose-gc" node app.js; in a file, set it in the env of the arm',
  varies:
    'Leave out of bodies what changes from run to run, as times and process numbers: load.normalize (--ignore REGEX)',
  unequal: 'Make the arms do the same work: the same answers to the same requests',
};

/**
 * Returns the reason why a run does not count: it has faults, its generator was the limit, or the feature was not where it belongs.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @returns {Refusal | null}
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
  const found = misplaced(run, arm) ?? idle(run, arm);
  return found && { ...found, why: atCase(run, found.why) };
}

/** Reports whether all of one arm was seen from within and not all of the other, in a sentence. */
function probedApart(control, other) {
  const runs = [control, other].map(({ role, arm, unprobed = 0 }) => [nameOf(role, arm), unprobed]);
  const [none, some] = runs.sort(([, a], [, b]) => a - b);
  if (none[1] > 0 || some[1] === 0) return null;
  return `${some[0]}: the lab could not look into ${some[1]} of its Node.js processes, and into all of ${none[0]}`;
}

/**
 * Returns the reason why the runs of a round cannot be compared: an arm did other work than the control.
 *
 * @param {import('./measure.js').Run[]} runs of one round
 * @returns {Refusal | null}
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

/**
 * Reports whether the feature under test was not at work where it has to be: seen in a run of the treatment, and not in one of
 * the control or its twin.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @returns {Refusal | null} null when all is well
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
        why: `${name}: the feature was at work, and must not be`,
        advice: 'Start the control without it, or let isOn look for what only the treatment shows',
      }
    : {
        kind: 'off',
        why: `${name}: the feature was not at work`,
        advice: 'Switch it on in the treatment, or let isOn look for what shows that it is on',
      };
}

/**
 * Reports whether the feature had nothing to act on, as told by the arm's `isIdle`. It is asked in the first round alone: more rounds would measure
 * nothing else.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @returns {Refusal | null}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when `isIdle` fails
 */
export function idle(run, arm) {
  if (run.role !== 'treatment' || run.round !== 1 || arm.isIdle === undefined) return null;
  const why = ask(`isIdle of ${arm.name}`, () => arm.isIdle(run));
  if (why === null) return null;
  return { kind: 'idle', why, advice: 'Choose a load that gives the feature something to act on' };
}

/**
 * Comparison of the work of two runs, which has to be the same.
 *
 * @typedef {object} Group answers of one kind, such as those to one path
 * @property {string} name
 * @property {number} answers
 * @property {Record<string, number>} status how many answers of each
 * @property {number} bytes mean of an answer
 * @property {string | null} payload fingerprint of what was answered; null where it cannot be compared
 * @property {boolean} [varies] whether it differs within the run, so that it cannot
 * @property {boolean} [mayFail] whether only their number and times are compared
 * @property {string} [dueTimes] when they were due, or a fingerprint of it; open loop only
 * @property {number} [bytesTolerance] share by which their sizes may differ, default 0.02
 */

/** Largest difference of the sizes of answers: numbers in them have more or fewer digits. */
const BYTES_TOLERANCE = 0.02;

/** Points of per cent by which shares may differ where the number of answers depends on the server. */
const MIX_POINTS = 2;
const STATUS_POINTS = 0.5;

/**
 * Returns the differences between the work of two runs, a sentence each with the figures of both. Open loop: number, due times
 * and status codes must be the same; so must the numbers of a program, unless it says `isClosed`. Closed loop, where a
 * faster server answers more: the share of each group within 2 points of per cent, that of each status within 0.5. Both: mean size within 2 %, and the same payload where it has
 * a fingerprint. Of requests that may fail, only how many there were and when.
 *
 * @param {import('./measure.js').Run} a
 * @param {import('./measure.js').Run} b
 * @returns {{ what: string, text: string }[]} `what` is `requests`, `answers`, `payload` and so on
 */
export function differences(a, b) {
  const names = [nameOf(a.role, a.arm), nameOf(b.role, b.arm)];
  const say = (what, [inA, inB], of = '') => ({
    what,
    text: `${what}${of}: ${inA} in ${names[0]}, ${inB} in ${names[1]}`,
  });
  const requests = [a, b].map(({ work }) => work.map(({ name }) => name).sort());
  if (requests[0].join('\0') !== requests[1].join('\0')) {
    return [
      say(
        'requests',
        requests.map((each) => each.join(', ') || 'none'),
      ),
    ];
  }
  const isClosed = a.isClosed || b.isClosed;
  const totals = [a, b].map(({ work }) => work.reduce((sum, { answers }) => sum + answers, 0));
  if (isClosed && totals.includes(0)) return [say('answers', totals)];
  return a.work.flatMap((group) => {
    const both = [group, b.work.find(({ name }) => name === group.name)];
    const found = isClosed
      ? shareDifference(
          'share of answers',
          both.map(({ answers }, i) => answers / totals[i]),
          MIX_POINTS,
        )
      : exactDifferences(both);
    if (!group.mayFail) found.push(...answerDifferences(both, isClosed));
    return found.map(([what, values]) => say(what, values, ` of '${group.name}'`));
  });
}

/** Returns what differs, with the figures of both. */
function exactDifferences(both) {
  const compared = {
    number: both.map(({ answers }) => answers),
    'times due': both.map(({ dueTimes = '' }) => dueTimes),
  };
  return Object.entries(compared).filter(([, [inA, inB]]) => inA !== inB);
}

function answerDifferences(both, isClosed) {
  const found = isClosed ? statusShares(both) : statusCodes(both);
  const tolerance = both[0].bytesTolerance ?? BYTES_TOLERANCE;
  const bytes = both.map((group) => group.bytes);
  const isAnswered = both.every(({ answers }) => answers > 0);
  if (isAnswered && Math.abs(bytes[0] - bytes[1]) > tolerance * Math.max(...bytes)) {
    found.push(['bytes per answer', bytes.map(rounded)]);
  }
  const payloads = both.map(({ payload }) => payload);
  const change = both.map(({ varies = false }) => varies);
  if (change[0] !== change[1]) {
    found.push([
      'payload',
      change.map((each) => (each ? 'not always the same' : 'always the same')),
    ]);
  } else if (!payloads.includes(null) && payloads[0] !== payloads[1]) {
    found.push(['payload', payloads]);
  }
  return found;
}

function statusCodes(both) {
  const lists = both.map(({ status }) =>
    Object.entries(status)
      .map(([code, count]) => `${code} (${count})`)
      .sort()
      .join(', '),
  );
  return lists[0] === lists[1] ? [] : [['status codes', lists]];
}

function statusShares(both) {
  if (both.some(({ answers }) => answers === 0)) return [];
  const codes = [...new Set(both.flatMap(({ status }) => Object.keys(status)))].sort();
  return codes.flatMap((code) => {
    const shares = both.map(({ status, answers }) => (status[code] ?? 0) / answers);
    return shareDifference(`share of status ${code}`, shares, STATUS_POINTS);
  });
}

function shareDifference(what, shares, points) {
  // Shares are rounded numbers.
  const isSame = Math.abs(shares[0] - shares[1]) * 100 <= points + 1e-9;
  return isSame ? [] : [[what, shares.map((share) => `${rounded(share * 100)} %`)]];
}

const rounded = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });
