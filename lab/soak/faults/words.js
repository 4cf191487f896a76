/** What the page and the document both say. */
import { perHour } from './outcome.js';
import { SURVIVOR } from './plan.js';

export const TITLE = 'The soak';

export const LEAD = `The chat in several processes of \`millrace/cluster\`, with \`millrace/auto\`, the guard, a pool and the dashboard, over NATS and PostgreSQL, under mixed load, with a fault in each cycle.`;

/** @param {object} result */
export function headline({ word, criteria }) {
  const refuted = criteria.filter((each) => each.word === 'refuted').length;
  return {
    met: 'All criteria are met.',
    refuted: `${refuted} of ${criteria.length} criteria ${refuted === 1 ? 'is' : 'are'} not met.`,
    undecided: 'No criterion is refuted, and not all could be decided.',
  }[word];
}

export const GROWTH_HEADS = [
  'process',
  'memory at rest',
  'begin',
  'end',
  'an hour, with 95 % interval',
  'verdict',
];

export const growthRow = ({ who, title, points, word, ...each }) => [
  ...[who, title, mib(points[0]?.[1]), mib(points.at(-1)?.[1])],
  ...[perHour(each), word],
];

export const FAULT_HEADS = ['minute', 'fault', 'what was done', 'whole again after'];

export const faultRow = ({ atS, title, what, wholeAfterS, failed }) => [
  ...[(atS / 60).toFixed(1), title, what ?? '–'],
  wholeAfterS === null ? `not: ${failed}` : `${wholeAfterS.toFixed(1)} s`,
];

export const COUNT_HEADS = ['what', 'how many'];

export const countRows = (counts) =>
  Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([what, many]) => [what, many.toLocaleString('en-US')]);

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
  `Memory is judged of the primary and of process ${SURVIVOR}, which no fault kills: those that are replaced begin anew. It is looked at in each rest, when everybody has left, after a full collection in all threads, when the C library has given back the pages that nobody has.`,
  'The optimizing compilers of V8 are off in the service: what they compile and note grows for hours, and is not what the program holds.',
  'Left alone, V8 and the C library keep what is free for later, and resident memory tells of little else: V8 has some 30 MiB for new objects at one rest and not at the next, and the C library keeps what lies below a block that lives. So V8 has 2 MiB for new objects here. Buffers are in what the C library has given out, too.',
  'The warm-up is half of the time, at most 30 minutes: until then pages of code that is run for the first time come in.',
  'Recovery is the time from the beginning of a fault to the moment when all processes are there and what is said at one is heard at each. It includes the fault itself: two seconds of a blocked loop, the time for which a broker is away.',
  'Deliveries to members who are connected while something breaks are at most once: what was missed then is counted and not judged.',
  'A message that was sent and not acknowledged, as its connection broke, is sent again, and may then be there twice.',
  'What the guard turns away, as the machine has no time for it, was not taken and is not lost; it is counted.',
];

const mib = (bytes) => (bytes === undefined ? '–' : `${(bytes / 2 ** 20).toFixed(1)} MiB`);
