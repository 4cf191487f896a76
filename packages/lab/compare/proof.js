/**
 * Proof that B uses the feature and A does not. With `--proof` it is a text that B alone writes or answers. Without, Millrace's own counters
 * must move in B, and not in A. They also say whether Millrace had anything to merge: if all calls of a round came alone, more rounds would
 * measure its overhead, and the comparison ends.
 */

const LOOKED_AT =
  'the lines that a server writes, and in head and body of its first answer to each --url';

const LINE_LENGTH = 100;

/**
 * Kinds of objects that merge: what they count, how many of those there were, and how many were merged. All other kinds, such as a pool or
 * a guard, act on each call.
 */
const MERGES = {
  install: ['WebSocket frames', ({ frames }) => frames, least('frames', 'writes', 'encoded')],
  'socket-io': ['socket.io messages', ({ frames }) => frames, least('frames', 'writes')],
  fs: [
    'file calls',
    ({ reads, appends }) => reads + appends,
    ({ reads, readBatches, onLoop, appends, commits }) =>
      reads - readBatches + onLoop + appends - commits,
  ],
  coalesce: ['socket writes', ({ writes }) => writes, least('coalesced', 'flushes')],
  dns: ['name look-ups', ({ lookups }) => lookups, ({ shared, kept }) => shared + kept],
  batch: ['batched calls', ({ batched }) => batched, least('batched', 'batches')],
  emitter: ['events', ({ batched }) => batched, least('batched', 'batches')],
  rooms: [
    'deliveries to room members',
    ({ deliveries }) => deliveries,
    least('deliveries', 'sends'),
  ],
  pipelined: ['queries', ({ queries, direct }) => queries + direct, ({ shared }) => shared],
};

/** Kinds that only look. */
const OBSERVERS = ['auto', 'monitor', 'responses'];

/** Returns the difference of the first counter and the least of the others. */
function least(from, ...others) {
  return (counters) => counters[from] - Math.min(...others.map((name) => counters[name]));
}

/**
 * @typedef {object} Proof
 * @property {(run: import('../experiment/measure.js').Run) => boolean} isOn
 * @property {(run: import('../experiment/measure.js').Run) => string | null} [isIdle] why the feature had nothing to act on
 * @property {string} about a sentence for the report
 * @property {(refusal: import('../experiment/refusal.js').Refusal) => string | undefined} advice the way out of a refusal
 */

/**
 * @param {RegExp} [pattern] of the option --proof; without one Millrace's own counters are the proof
 * @returns {Proof}
 */
export const proofOf = (pattern) => (pattern === undefined ? ofCounters() : ofPattern(pattern));

function ofCounters() {
  const advice =
    "Without --proof, Millrace's own counters say whether it is on: they must move in B and not in A. Let B alone use " +
    'Millrace, or give --proof REGEX for a text that only B writes or answers';
  const idle =
    'Choose a load that makes the server do one of these at the same time, or leave Millrace out of this server: millrace observe says what ' +
    'it could merge. To measure its overhead, give --proof REGEX for a text that only B writes';
  return {
    isOn({ probe }) {
      const counters = probe?.millrace ?? {};
      return Object.hasOwn(counters, 'auto') || Object.values(counters).some(hasMoved);
    },
    isIdle: ({ probe }) => idleness(probe?.millrace ?? {}),
    about: "Proof: Millrace's counters, which must move in B and not in A.",
    advice: ({ kind }) => ({ off: advice, 'on in the control': advice, idle })[kind],
  };
}

/**
 * Returns the reason why Millrace had nothing to act on.
 *
 * @param {Record<string, Record<string, number>>} counters by kind, of one run
 * @returns {string | null} null when it acted
 */
export function idleness(counters) {
  const acting = Object.entries(counters).filter(([kind]) => !OBSERVERS.includes(kind));
  const isActive = ([kind, each]) =>
    Object.hasOwn(MERGES, kind) ? MERGES[kind][2](each) > 0 : hasMoved(each);
  if (acting.some(isActive)) return null;
  const seen = acting
    .map(([kind, each]) => [MERGES[kind]?.[0], MERGES[kind]?.[1](each)])
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`);
  const why =
    seen.length === 0
      ? 'this load caused no WebSocket frames, file calls, name look-ups or large reads that it can merge'
      : `of ${seen.join(' and ')} no two came at the same time`;
  return `Millrace is on in B, but had nothing to merge: ${why}`;
}

const hasMoved = (counters) => Object.values(counters).some((value) => value > 0);

function ofPattern(pattern) {
  let inA = null;
  return {
    isOn({ role, output, proof, first = '' }) {
      const found =
        // A text that stretches over lines is seen in the first and the last 64 KB alone.
        lineWith(pattern, proof ?? output, 'its output') ?? lineWith(pattern, first, 'its answers');
      if (role !== 'treatment') inA ??= found;
      return found !== null;
    },
    about: `Proof: ${pattern}, which B must show and A must not.`,
    advice({ kind }) {
      if (kind === 'on in the control' && inA !== null) {
        return `--proof "${pattern.source}" is in A, too, in ${inA}. Take a text that only B shows; it is looked for in ${LOOKED_AT}`;
      }
      if (kind !== 'on in the control' && kind !== 'off') return undefined;
      return `--proof "${pattern.source}" must be seen in B, and never in A; it is looked for in ${LOOKED_AT}`;
    },
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
