/** The outcome of the soak: its criteria, each with a word and the evidence for it. Pure. */
import { grownCounts, judgeGrowth, warmUpOf } from './judge.js';
import { SURVIVOR } from './plan.js';

/** Those that live from the beginning to the end; a process that is killed begins anew, and hides what it leaks. */
const LASTING = ['primary', `process ${SURVIVOR}`];

const MEMORY = {
  heap: { title: 'JavaScript heap and buffers', isJudged: true },
  rss: { title: 'resident memory', isJudged: true },
  /** Of these few megabytes what is there for a moment is some per cent. */
  native: { title: 'memory allocated by the C library', isJudged: false },
};

/**
 * @param {object} raw
 * @param {number} raw.seconds
 * @param {number} raw.seed
 * @param {import('./soak.js').Found} raw.found
 * @param {{ acknowledged: number, counts: Record<string, number>, faults: string[] }} raw.ledger
 * @param {string[]} raw.saved what is wrong with the database
 * @param {{ code: number | string, left: number[] }} raw.stop
 * @param {string[]} raw.said lines on stderr that nobody expects
 * @returns {{ word: 'met' | 'refuted' | 'undecided', criteria: Criterion[], growth: object[] }}
 *
 * @typedef {object} Criterion
 * @property {string} name
 * @property {'met' | 'refuted' | 'undecided'} word
 * @property {string} text what it was judged by
 * @property {string[]} faults what was wrong
 */
export function outcome({ seconds, seed, found, ledger, saved, stop, said }) {
  const { faults, rests, waves, server } = found;
  const growth = growthOf(rests, { warmUpS: warmUpOf(seconds), seed });
  const counted = rests
    .filter(({ counts }) => counts !== undefined)
    .map(({ atS, counts }) => ({ seconds: atS, counts }));
  const badWaves = waves.filter(({ failed }) => failed !== null);
  const delivered = waves.reduce((sum, wave) => sum + (wave.delivered ?? 0), 0);
  const notWhole = faults.filter(({ wholeAfterS }) => wholeAfterS === null);
  const recoveries = faults.map(({ wholeAfterS }) => wholeAfterS).filter((each) => each !== null);
  const waveAcks = waves.reduce((sum, { acks = 0 }) => sum + acks, 0);
  const criteria = [
    criterion(
      'No acknowledged message is lost',
      `${number(ledger.acknowledged + waveAcks)} acknowledged messages were looked for in the database`,
      ledger.acknowledged === 0 ? ['nothing was acknowledged', ...saved] : saved,
    ),
    criterion(
      'Deliveries come once and in order, and none is missing while there is no fault',
      `${number(ledger.counts.heard ?? 0)} deliveries to people, and ${number(delivered)} in ${waves.length} waves of the generator`,
      [
        ...ledger.faults,
        ...badWaves.map(({ atS, failed }) => `the wave at ${Math.round(atS)} s: ${failed}`),
      ],
    ),
    memory(growth),
    counted.length < 2
      ? { ...criterion(COUNTS, 'there was one long rest', []), word: 'undecided' }
      : criterion(
          COUNTS,
          `${counted.length} long rests, each against the first`,
          grownCounts(counted),
        ),
    criterion(
      'The service recovers after each fault',
      recoveries.length > 0
        ? `${faults.length} faults; the longest took ${Math.max(...recoveries).toFixed(1)} s`
        : `${faults.length} faults`,
      [
        ...(faults.length === 0 ? ['there was no fault'] : []),
        ...notWhole.map(({ title, atS, failed }) => `${title} at ${Math.round(atS)} s: ${failed}`),
      ],
    ),
    criterion(
      'No unhandled error, and no process that ends by itself',
      'what processes counted, how they ended, and what they wrote on stderr',
      [...server, ...said.map((line) => `on stderr: ${line}`)],
    ),
    criterion(
      'SIGTERM ends the service with code 0, and leaves no process',
      `it ended with ${stop.code}`,
      [
        ...(stop.code === 0 ? [] : [`it ended with ${stop.code}`]),
        ...(stop.left.length === 0 ? [] : [`processes ${stop.left.join(', ')} were left`]),
      ],
    ),
  ];
  return { word: worst(criteria), criteria, growth };
}

const COUNTS = 'Descriptors, handles and threads at rest do not grow';

const criterion = (name, text, faults) => ({
  ...{ name, word: faults.length > 0 ? 'refuted' : 'met' },
  ...{ text, faults },
});

/** @returns {object[]} of each lasting process and kind of memory that is known: where it was, and how it grew */
function growthOf(rests, options) {
  const isKnown = ([key]) => rests.some(({ vitals }) => LASTING.some((who) => vitals[who]?.[key]));
  return LASTING.flatMap((who) =>
    Object.entries(MEMORY)
      .filter(isKnown)
      .map(([key, { title, isJudged }]) => {
        const points = rests
          .filter(({ vitals }) => vitals[who] !== undefined)
          .map(({ atS, vitals }) => [atS, vitals[who][key]]);
        const judged = judgeGrowth(points, options);
        return { who, key, title, points, ...judged, ...(!isJudged && { word: 'not judged' }) };
      }),
  );
}

function memory(growth) {
  const faults = growth
    .filter(({ word }) => word === 'refuted')
    .map(({ who, title, ...each }) => `${title} of ${who}: ${perHour(each)} an hour`);
  const open = growth.filter(({ word }) => word === 'undecided');
  return {
    name: 'Memory grows by less than 1 % an hour',
    word: faults.length > 0 ? 'refuted' : open.length > 0 ? 'undecided' : 'met',
    text: growth
      .filter(({ key }) => MEMORY[key].isJudged)
      .map(({ who, key, ...each }) => `${who}, ${key}: ${perHour(each)}`)
      .join('; '),
    faults: [
      ...faults,
      ...open.map(({ who, title, why }) => `not decided: ${title} of ${who}: ${why}`),
    ],
  };
}

/** `+0.31 % (−0.10 to +0.70)`. */
export function perHour({ perHour: slope, lo, hi }) {
  if (slope === null) return 'not known';
  return `${share(slope)} % (${share(lo)} to ${share(hi)})`;
}

const share = (value) => {
  const text = Math.abs(value * 100).toFixed(2);
  return `${value < 0 ? '−' : '+'}${text}`;
};

const number = (value) => value.toLocaleString('en-US');

function worst(criteria) {
  const words = criteria.map(({ word }) => word);
  return ['refuted', 'undecided'].find((word) => words.includes(word)) ?? 'met';
}
