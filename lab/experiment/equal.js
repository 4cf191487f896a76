import { ask } from './errors.js';

/** By so much the sizes of answers may differ: numbers in them have more or fewer digits. */
const BYTES_TOLERANCE = 0.02;

/** Whether an answer counts: a 2xx and, where the load can tell, right. */
const isGood = ({ status, error }) => error === null && status >= 200 && status <= 299;

/** Whether it is one of those that may fail, and has. */
export const hasFailed = (answer) => answer.request.mayFail === true && !isGood(answer);

/**
 * What is wrong with one run, a sentence each: every request, but for those that may fail, must have been
 * answered with a 2xx and, where the load can tell, rightly; and the feature must have been seen at work in the treatment, and only there.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm
 * @returns {string[]}
 */
export function faultsOf(run, arm) {
  const found = [];
  for (const [name, answers] of byName(run.answers)) {
    const failed = answers.filter((answer) => !isGood(answer));
    if (failed.length === 0 || answers[0].request.mayFail) continue;
    const [{ status, error }] = failed;
    const why = [status === null ? [] : `status ${status}`, error ?? []].flat().join(', ');
    found.push(`${failed.length} of ${answers.length} answers to '${name}' do not count: ${why}`);
  }
  // What has failed says nothing about the feature.
  if (found.length > 0) return found;
  const isOn = ask('isOn', () => arm.isOn(run));
  if (run.side === 'treatment' && !isOn) found.push('the feature was not at work in the treatment');
  if (run.side === 'control' && isOn) found.push('the feature was at work in the control');
  return found;
}

/**
 * In what the work of two runs differs, a sentence each: requests, status codes, sizes and payloads of the
 * answers have to be the same; of requests that may fail, only how many there were and when.
 *
 * @param {import('./measure.js').Run} a
 * @param {import('./measure.js').Run} b
 * @returns {string[]}
 */
export function differences(a, b) {
  const found = [];
  const [ofA, ofB] = [byName(a.answers), byName(b.answers)];
  const compare = (what, inA, inB, tolerance = 0) => {
    const isSame =
      tolerance > 0 ? Math.abs(inA - inB) <= tolerance * Math.max(inA, inB) : inA === inB;
    if (!isSame) found.push(`${what}: ${inA} in ${a.arm}, ${inB} in ${b.arm}`);
  };
  compare('requests', [...ofA.keys()].join(), [...ofB.keys()].join());
  if (found.length > 0) return found;
  for (const [name, answersA] of ofA) {
    const answersB = ofB.get(name);
    const each = (what, of, tolerance) =>
      compare(`${what} of '${name}'`, of(answersA), of(answersB), tolerance);
    const { bytesTolerance = BYTES_TOLERANCE, mayFail = false } = answersA[0].request;
    each('number', (answers) => answers.length);
    each('times due', (answers) => list(answers.map(({ dueMs }) => `${dueMs} ms`)));
    if (mayFail) continue;
    each('status codes', (answers) => list(answers.map(({ status }) => status)));
    each('bytes per answer', meanBytes, bytesTolerance);
    each('payload', (answers) => list(answers.map(({ hash }) => `${hash}`.slice(0, 12))));
  }
  return found;
}

/** Answers by the name of their request, names in the order of the alphabet. */
function byName(answers) {
  const groups = new Map();
  for (const answer of answers) {
    const { name } = answer.request;
    groups.set(name, [...(groups.get(name) ?? []), answer]);
  }
  return new Map([...groups].sort(([x], [y]) => (x < y ? -1 : 1)));
}

/** Each once, with how often it is there, as `200 (40), 503 (2)`. */
function list(values) {
  const counts = new Map();
  for (const value of [...values].sort()) counts.set(value, (counts.get(value) ?? 0) + 1);
  const shown = [...counts].slice(0, 5).map(([value, count]) => `${value} (${count})`);
  return shown.join(', ') + (counts.size > 5 ? ` and ${counts.size - 5} others` : '');
}

const meanBytes = (answers) =>
  Math.round(answers.reduce((sum, { bytes }) => sum + bytes, 0) / answers.length);
