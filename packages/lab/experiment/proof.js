/** Whether the feature under test is on, in an experiment of the command line. */

const LOOKED_AT =
  'the lines that a server writes, and in head and body of its first answer to each --url';

const LINE_LENGTH = 100;

/**
 * @typedef {object} Proof
 * @property {(run: import('./measure.js').Run) => boolean} isOn
 * @property {string} about a sentence: what it looks at
 * @property {(kind: import('./refusal.js').Kind) => string} advice what to do when it was where it must not be, or not where it must
 */

/**
 * @param {RegExp} [pattern] of the option --proof; without one Millrace's own counters are the proof
 * @returns {Proof}
 */
export const proofOf = (pattern) => (pattern === undefined ? ofCounters() : ofPattern(pattern));

function ofCounters() {
  return {
    isOn({ probe }) {
      const counters = probe?.millrace ?? {};
      if (Object.hasOwn(counters, 'auto')) return true;
      return Object.values(counters).some((each) => Object.values(each).some((value) => value > 0));
    },
    about:
      "Proof: millrace/auto, or Millrace's own counters, which must move in the treatment and not in the control (no --proof is given).",
    advice: () =>
      "Without --proof, Millrace's own counters say whether it is on: they must move in the treatment and not in " +
      'the control. Let the treatment alone use it, or give --proof REGEX ' +
      'for what only the treatment writes or answers',
  };
}

function ofPattern(pattern) {
  let inControl = null;
  return {
    isOn({ role, output, proof, first = '' }) {
      const found =
        // What stretches over lines is seen in the first and the last 64 KB alone.
        lineWith(pattern, proof ?? output, 'its output') ?? lineWith(pattern, first, 'its answers');
      if (role !== 'treatment') inControl ??= found;
      return found !== null;
    },
    about: `Proof: ${pattern}, which the treatment must show and the control must not, in ${LOOKED_AT}.`,
    advice: (kind) =>
      kind === 'on in the control' && inControl !== null
        ? `--proof "${pattern.source}" is in the control, too, in ${inControl}. Take what only the treatment shows; ` +
          `it is looked for in ${LOOKED_AT}`
        : `--proof "${pattern.source}" must be seen in the treatment, and never in the control; it is looked for in ` +
          LOOKED_AT,
  };
}

/** The line where it is, for a message; null when it is not there. */
function lineWith(pattern, text, where) {
  const found = pattern.exec(text);
  if (found === null) return null;
  const from = text.lastIndexOf('\n', found.index - 1) + 1;
  const [line] = text.slice(from, from + LINE_LENGTH).split(/\r?\n/);
  return `${where}: ${JSON.stringify(line)}`;
}
