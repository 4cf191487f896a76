import { GOOD_MS, KINDS } from '../settings.js';

const COLUMNS = [
  ['offered', (s) => fixed(s.offered)],
  ['good', (s) => fixed(s.good)],
  ['of max', (s) => percent(s.ofPossible)],
  ['copies', (s) => fixed(s.copies)],
  ['200s', (s) => fixed(s.fresh + s.copies + s.late)],
  ['503s', (s) => fixed(s.shed)],
  ['failed', (s) => fixed(s.failed)],
  ['p50 ms', (s) => fixed(s.p50, 0)],
  ['p99 ms', (s) => fixed(s.p99, 0)],
  ...KINDS.map((kind, at) => [kind.class, (s) => percent(s.success[at])]),
  ['health', (s) => percent(s.healthOk)],
  ['its p99', (s) => fixed(s.healthP99, 0)],
];

const TITLE_WIDTH = 18;

export function headings() {
  return COLUMNS.reduce((line, [name]) => `${line}  ${name}`, ' '.repeat(TITLE_WIDTH));
}

export function row(title, summary) {
  const cells = COLUMNS.map(([name, value]) => value(summary).padStart(name.length));
  return [title.padEnd(TITLE_WIDTH), ...cells].join('  ');
}

/** Null, where there is nothing to tell, is a dash. */
const fixed = (number, digits = 1) => (number === null ? '–' : number.toFixed(digits));
const percent = (share) => (share === null ? '–' : `${Math.round(share * 100)} %`);

export const LEGEND = `
Offered to failed are a second. good: 200s within ${GOOD_MS} ms; of max: of the good answers that were possible, which are
all that may be copies, from a server that keeps some, and of the rest as many as one server can do; copies: good ones
from a cache. p50 and p99: of all 200s. high, normal, low: good of all that ended, by class. health: its 200s.`;
