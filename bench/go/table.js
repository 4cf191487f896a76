/**
 * The report beside this machine, for a terminal and for docs/benchmarks/go-tournament.md. What compares with the report is made of the figures
 * that are kept in bench/measured, or of a run's rounds; the tables of the cases, on the page between the same two marks, of rounds
 * alone, and stay as they are when their case was not run.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median, timesBetter } from '../lib/statistics.js';
import { cases, stability } from './cases.js';
import { judgeClaims, judgeFurther } from './judge.js';
import { BASELINE, designs, features, tables } from './report.js';
import { variation } from './samples.js';
import { rowOf } from './stability.js';

const path = fileURLToPath(new URL('../../docs/benchmarks/go-tournament.md', import.meta.url));
const begin = '<!-- written by make bench NAME=go SAVE=1 -->';
const end = '<!-- end of what make bench wrote -->';

const columns = {
  ns_per_op: 'ns',
  cpu_ns_per_op: 'CPU ns',
  bytes_per_op: 'bytes',
  allocs_per_op: 'allocations',
  retained_bytes_per_op: 'bytes kept',
  p50_ns: 'p50',
  p95_ns: 'p95',
  p99_ns: 'p99',
  p999_ns: 'p99.9',
  tasks: 'tasks',
  heap_bytes: 'bytes of heap',
  heap_growth: 'growth of the heap',
};

/** Titles of the parts that are no case. */
const titles = {
  report: 'The report and this machine',
  claims: 'What the report claims',
  further: 'What else it says of its designs',
  long: 'A long run',
};

/** @typedef {import('./judge.js').Values} Values */

/**
 * Prints for a terminal: the tables of the report, each figure beside ours, and a verdict on each of its claims.
 *
 * @param {Values} values
 * @param {string} machine
 * @returns {string}
 */
export function reportText(values, machine) {
  const measured = tables.filter(({ case: name }) => values(name, 'millrace', 'ns_per_op'));
  const parts = [
    `The report: macOS, Apple M2 Pro. Here: ${machine}. Times in ns.`,
    ...measured.flatMap((table) => [
      `${table.section} ${table.title}`,
      aligned(...rowsOf(table, values)),
    ]),
    ...['5 features', aligned(...featureRows())],
    ...['claims', aligned(...claimRows(judgeClaims(values), plain))],
    ...['further statements', aligned(...claimRows(judgeFurther(values), plain))],
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The heads and rows of a table of the report: of each metric the figures there and here, and how the design does against the baseline. */
function rowsOf({ case: name, metrics }, values) {
  const all = [...designs, ['–', 'millrace']];
  const here = (entrant, metric) => {
    const found = values(name, entrant, metric);
    return found === undefined ? '–' : number(median(found));
  };
  const rows = all.map(([design, entrant]) => [
    ...[design, entrant],
    ...Object.entries(metrics).flatMap(([metric, there]) => [
      design in there ? number(there[design]) : '–',
      here(entrant, metric),
    ]),
    ...against(name, design, entrant, metrics.ns_per_op, values),
  ]);
  const heads = Object.keys(metrics).flatMap((metric) => [`${columns[metric]} there`, 'here']);
  return [['design', 'entrant', ...heads, `times ${BASELINE} there`, 'here'], rows];
}

function against(name, design, entrant, there, values) {
  const [, baseline] = designs.find(([each]) => each === BASELINE);
  const claimed = design in there ? times(there[BASELINE] / there[design]) : '–';
  if (entrant === baseline) return [claimed, times(1)];
  const [ours, theirs] = [entrant, baseline].map((each) => values(name, each, 'ns_per_op'));
  if (ours === undefined || theirs === undefined) return [claimed, '–'];
  return [claimed, interval(timesBetter('lower', ours, theirs))];
}

function featureRows() {
  const all = [...designs, ['–', 'millrace']];
  const has = (names, name) => (names.includes(name) ? 'yes' : 'no');
  const rows = all.map(([design, entrant]) => [
    ...[design, entrant],
    ...features.map(({ there, here }) =>
      design === '–' ? has(here, entrant) : `${has(there, design)} / ${has(here, entrant)}`,
    ),
  ]);
  return [['design', 'entrant', ...features.map(({ feature }) => feature)], rows];
}

/** A row for each place of the claims whose arms were run; the first of a claim has its text. */
function claimRows(judged, code) {
  const rows = judged.flatMap(({ text, places }) =>
    places.map((place, i) => [
      ...[i === 0 ? text : '', place.case, code(place.arm), than(place, code)],
      ...[times(place.claimed), interval(place), String(place.n), probability(place.pHolm)],
      [place.verdict, place.why].filter(Boolean).join(': '),
    ]),
  );
  return [['claim', 'case', 'arm', 'against', 'claimed', 'here', 'rounds', 'p', 'verdict'], rows];
}

/** Table of claims for the page: both arms in a cell, without the rounds, which the table of each case has. */
function shortClaims(judged) {
  const [, rows] = claimRows(judged, quoted);
  return [
    ['claim', 'case', 'arms', 'claimed', 'here', 'p', 'verdict'],
    rows.map(([text, name, arm, other, claimed, here, , ...found]) => [
      ...[text, name, `${arm}, ${other}`, claimed, dashed(here), ...found],
    ]),
  ];
}

function than({ than: other, metric }, code) {
  if (other === null) return 'a bound';
  if (typeof other === 'string') return code(other);
  return `${number(other)} ${columns[metric]}`;
}

const plain = (name) => name;
const quoted = (name) => `\`${name}\``;

const probability = (p) => (p === null ? '–' : p < 0.001 ? '<0.001' : p.toFixed(3));

function aligned(head, rows) {
  const widths = head.map((title, i) => Math.max(...[head, ...rows].map((row) => row[i].length)));
  const isNumber = head.map((_, i) => rows.every((row) => /^[\d–<]/.test(row[i])));
  const line = (row) =>
    row
      .map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

/**
 * @typedef {object} Found what a page is made of
 * @property {{ notes: string[] }} kept
 * @property {Values} values of the figures that are kept
 * @property {{ case: string, rounds: object[] }[]} [raw] cases that were run
 * @property {boolean} [isPart] they are not all: the tables of the others stay
 * @property {import('./stability.js').Account} [account] of the long run that is kept
 */

/** Writes the page anew. @param {Found} found */
export function writePage(found) {
  writeFileSync(path, pageText(readFileSync(path, 'utf8'), found));
}

/** @param {string} page @param {Found} found @returns {string} */
export function pageText(page, { kept, values, raw = [], isPart = true, account }) {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} has lost the marks ${begin} and ${end}`);
  const before = sectionsOf(page.slice(from + begin.length, to));
  const sections = [...cases, { ...stability, metrics: ['p999_ns'] }].map((each) => {
    const rounds = raw.find((one) => one.case === each.name)?.rounds;
    if (rounds) return caseTable({ ...each, rounds });
    const stays = isPart || (each.alone && values(each.name, 'millrace', 'tasks'));
    return stays ? before.get(each.name) : undefined;
  });
  const host = kept.notes.find((note) => note.includes('GOMAXPROCS')) ?? '';
  const text = [
    ...[begin, host.split(';')[0]],
    ...[reportTable(values), claimTable(values), furtherTable(values)],
    ...sections.filter((section) => section !== undefined),
    ...(account ? [longTable(account)] : []),
    end,
  ].join('\n\n');
  return page.slice(0, from) + text + page.slice(to + end.length);
}

/** The parts of a text by their titles. */
function sectionsOf(text) {
  const parts = text.split(/^(?=### )/m).slice(1);
  return new Map(parts.map((part) => [/^### (.*)/.exec(part)[1], part.trim()]));
}

const section = (title, ...parts) => [`### ${title}`, ...parts].join('\n\n');

function reportTable(values) {
  const there = tables.filter(({ case: name }) => values(name, 'millrace', 'ns_per_op'));
  const here = (name, entrant) => {
    const found = values(name, entrant, 'ns_per_op');
    return found === undefined ? '–' : number(median(found));
  };
  const rows = [...designs, ['–', 'millrace']].map(([design, entrant]) => [
    ...[design, quoted(entrant)],
    ...there.map(({ case: name, metrics: { ns_per_op: said } }) => {
      const claimed = design in said ? number(said[design]) : '–';
      return `${claimed} / ${here(name, entrant)}`;
    }),
  ]);
  return section(
    titles.report,
    'Nanoseconds per operation: there (macOS, Apple M2 Pro) / here.',
    markdown(['design', 'entrant', ...there.map(({ case: name }) => name)], rows),
  );
}

function claimTable(values) {
  return section(
    titles.claims,
    'How many times better the first arm is than the second, or than a bound, in time or in bytes; p is corrected for all comparisons of this ' +
      'table. For bytes, 2.50 is enough, as the runtime itself allocates some.',
    markdown(...shortClaims(judgeClaims(values))),
  );
}

function furtherTable(values) {
  return section(
    titles.further,
    'The other rows of its tables, and what it says of causes, in the same way.',
    markdown(...shortClaims(judgeFurther(values))),
  );
}

function longTable(account) {
  const { heads, cells } = rowOf(account);
  const open = account.verdicts.filter(({ isMet }) => !isMet).map(({ what }) => what);
  const told = open.length === 0 ? 'All are met' : `Not met: ${open.join('; ')}`;
  const asked = account.verdicts.map(({ what }) => what).join(', ');
  return section(
    titles.long,
    `\`make bench NAME=go STABILITY=1h\` on ${account.machine}: random load in one process, at a low rate. Criteria: ` +
      `${asked}. ${told}. p50 and p99 are medians of the [intervals](../../bench/measured/go-stability.txt), p99.9 is that of ` +
      'the worst one. Threads without a core were ready while other programs had the cores: they make tasks wait as well.',
    markdown(heads, [cells]),
  );
}

function caseTable({ name, metrics: [first], subject = 'millrace', rounds }) {
  const names = Object.keys(rounds[0]);
  // The order of the first round is random.
  names.sort((a, b) => medianOf(rounds, a, first) - medianOf(rounds, b, first));
  const shown = Object.keys(columns).filter((metric) =>
    names.some((arm) => rounds[0][arm][metric] !== undefined),
  );
  const rows = names.map((arm) => [
    quoted(arm),
    ...shown.map((metric) =>
      rounds[0][arm][metric] === undefined ? '' : number(medianOf(rounds, arm, metric)),
    ),
    arm === subject ? '' : dashed(interval(ahead(rounds, subject, arm, first))),
    (100 * variation(rounds.map((round) => round[arm][first]))).toFixed(1),
  ]);
  return section(
    name,
    `${rounds.length} rounds.`,
    markdown(
      ['arm', ...shown.map((m) => columns[m]), `\`${subject}\` is ahead`, 'variation, %'],
      rows,
    ),
  );
}

function ahead(rounds, subject, peer, metric) {
  const [ours, theirs] = [subject, peer].map((arm) => rounds.map((round) => round[arm][metric]));
  return timesBetter('lower', ours, theirs);
}

const interval = ({ ahead: estimate, lo, hi }) =>
  lo === null ? times(estimate) : `${times(estimate)} (${times(lo)} to ${times(hi)})`;

const dashed = (text) => text.replace(' to ', '–');

const times = (value) => value.toFixed(2);

const medianOf = (rounds, arm, metric) => median(rounds.map((round) => round[arm][metric]));

function number(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

function markdown(head, rows) {
  const line = (row) => `| ${row.join(' | ')} |`;
  const marks = head.map((_, i) => (i === 0 ? '---' : '--:'));
  return [line(head), `|${marks.join('|')}|`, ...rows.map(line)].join('\n');
}
