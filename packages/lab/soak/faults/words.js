/** What the page and the document both say. */
import { perHour } from './outcome.js';
import { SURVIVOR } from './plan.js';

export const TITLE = 'The soak';

export const LEAD = `The soak runs the chat in several processes of \`@millrace/cluster\`, with \`millrace/auto\`, the guard, a pool and the dashboard, over NATS and PostgreSQL, under mixed load, with a fault in each cycle.`;

/** @param {object} result */
export function headline({ word, criteria }) {
  const refuted = criteria.filter((each) => each.word === 'refuted').length;
  return {
    met: 'All criteria are met.',
    refuted: `${refuted} of ${criteria.length} criteria ${refuted === 1 ? 'is' : 'are'} not met.`,
    undecided: 'No criterion is refuted, but some could not be decided.',
  }[word];
}

export const GROWTH_HEADS = [
  'process',
  'memory at rest',
  'start',
  'end',
  'growth an hour, with 95 % interval',
  'verdict',
];

export const growthRow = ({ who, title, points, word, ...each }) => [
  ...[who, title, mib(points[0]?.[1]), mib(points.at(-1)?.[1])],
  ...[perHour(each), word],
];

export const FAULT_HEADS = ['minute', 'fault', 'what was done', 'recovered after'];

export const faultRow = ({ atS, title, what, wholeAfterS, failed }) => [
  ...[(atS / 60).toFixed(1), title, what ?? '–'],
  wholeAfterS === null ? `not: ${failed}` : `${wholeAfterS.toFixed(1)} s`,
];

export const COUNT_HEADS = ['what', 'how many'];

/** What each counter of the ledger counts, in the order of the table. */
export const COUNTERS = {
  visits: 'visits of chat members, each from connecting to leaving',
  'broken connections': 'connections of members that broke',
  'connections turned away': 'connections of members that the guard refused',
  said: 'messages that members sent',
  'said again': 'of these, sent again because the connection broke before they were acknowledged',
  heard: 'messages that members received',
  missed: 'messages that members missed',
  requests: 'HTTP requests: messages, uploads, downloads, history, health',
  'broken requests': 'HTTP requests that failed',
  'requests turned away': 'HTTP requests that the guard refused',
  digests: 'uploaded files whose SHA-256 digest was compared',
  'slow readers': 'clients that stopped reading under a flood of messages',
  'slow readers given up': 'of these, disconnected by the chat',
  acknowledged: 'messages and files acknowledged, without those of the load generator',
  faults: 'violations of a criterion',
};

export function countRows(counts) {
  const known = Object.keys(COUNTERS).filter((what) => what in counts);
  const others = Object.keys(counts).filter((what) => !(what in COUNTERS));
  return [...known, ...others.sort()].map((what) => [
    COUNTERS[what] ?? what,
    counts[what].toLocaleString('en-US'),
  ]);
}

/** By kind: how many, and the median and longest time until the service was whole. */
export const KIND_HEADS = ['fault', 'times', 'median recovery', 'longest'];

export function kindRows(faults) {
  const titles = [...new Set(faults.map(({ title }) => title))].sort();
  return titles.map((title) => {
    const times = faults
      .filter((fault) => fault.title === title && fault.wholeAfterS !== null)
      .map(({ wholeAfterS }) => wholeAfterS)
      .sort((a, b) => a - b);
    const many = faults.filter((fault) => fault.title === title).length;
    if (times.length === 0) return [title, `${many}`, '–', '–'];
    const middle = times[Math.floor(times.length / 2)];
    return [title, `${many}`, `${middle.toFixed(1)} s`, `${times.at(-1).toFixed(1)} s`];
  });
}

export const LIMITS = [
  `Memory is judged for the primary and process ${SURVIVOR}, which no fault kills: a replaced process would start anew. It is measured in each rest: all clients have left, all threads have run a full garbage collection, and the C library has returned its free pages.`,
  'The optimizing compilers of V8 are off in the service: their code and notes grow for hours, and are not data of the program.',
  'By default V8 and the C library keep free memory for later, and resident memory shows little else: V8 has some 30 MiB for new objects at one rest and not at the next, and the C library keeps free blocks below a live one. So V8 has only 2 MiB for new objects here. The memory allocated by the C library includes buffers.',
  'The warm-up is half of the time, at most 30 minutes: until then memory still grows by pages of code that runs for the first time.',
  'Recovery is the time from the start of a fault until all processes are there and a message sent at one arrives at each. It includes the fault itself: two seconds of a blocked loop, the time for which a broker is away.',
  'During a fault, members get each message at most once: messages missed then are counted, but not judged.',
  'If a connection breaks before a message is acknowledged, the message is sent again, and may then be stored twice.',
  'A request that the guard refuses for lack of time was not accepted, so it is not lost; it is counted.',
];

const mib = (bytes) => (bytes === undefined ? '–' : `${(bytes / 2 ** 20).toFixed(1)} MiB`);
