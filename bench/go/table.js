/** The tables of docs/go-tournament.md, between two marks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median, timesBetter } from '../lib/statistics.js';
import { percent as level } from '../lib/table.js';
import { cases, stability } from './cases.js';
import { judgeClaims, valuesOfRounds } from './judge.js';
import { variation } from './samples.js';

const path = fileURLToPath(new URL('../../docs/go-tournament.md', import.meta.url));
const begin = '<!-- written by make bench NAME=go TABLE=1 -->';
const end = '<!-- end of what make bench wrote -->';

const reported = [
  'PingPong',
  'PingPongLatency',
  'MultiProducer10',
  'BurstSubmit',
  'GCPressure',
  'Allocation',
];

/** What the report says, in ns: the designs by their names there, with the entrants that stand for them. */
const report = [
  ['Main', 'tick', [160.5, 11131, 213.8, 145.5, 528.8, 171.4]],
  ['AlternateOne', 'safe', [340, 11280, 170.6, 117, 345.8, 162.9]],
  ['AlternateTwo', 'lockfree', [161.2, 12564, 195.4, 105.4, 349.5, 119.7]],
  ['AlternateThree', 'batched', [95, 11232, 140.4, 88.5, 292.4, 81.9]],
  ['Baseline', 'goja_nodejs', [102.4, 530.6, 198.8, 107.9, 295, 88.1]],
];

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

/** @param {{ raw: { case: string, rounds: object[] }[], notes: string[] }} run */
export function writeTable({ raw, notes }) {
  const found = [...cases, { ...stability, metrics: ['p999_ns'] }]
    .map((each) => ({ ...each, rounds: raw.find((one) => one.case === each.name)?.rounds }))
    .filter(({ rounds }) => rounds);
  const text = [
    begin,
    notes.find((note) => note.includes('GOMAXPROCS')) ?? '',
    ...reportTable(found),
    ...claimTable(found),
    ...found.flatMap(caseTable),
    end,
  ].join('\n\n');
  const page = readFileSync(path, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} has lost the marks ${begin} and ${end}`);
  writeFileSync(path, page.slice(0, from) + text + page.slice(to + end.length));
}

function reportTable(found) {
  const there = reported.filter((name) => found.some((each) => each.name === name));
  const here = (name, entrant) => {
    const rounds = found.find((each) => each.name === name).rounds;
    return entrant in rounds[0] ? number(medianOf(rounds, entrant, 'ns_per_op')) : '–';
  };
  const rows = report.map(([design, entrant, figures]) => [
    design,
    `\`${entrant}\``,
    ...there.map((name) => `${number(figures[reported.indexOf(name)])} / ${here(name, entrant)}`),
  ]);
  const own = ['–', '`millrace`', ...there.map((name) => `– / ${here(name, 'millrace')}`)];
  return [
    '### The report and this machine',
    'Nanoseconds an operation, there (macOS, Apple M2 Pro) / here.',
    markdown(['design', 'entrant', ...there], [...rows, own]),
  ];
}

/** Of claims whose arms were run. */
function claimTable(found) {
  const rows = judgeClaims(valuesOfRounds(found)).flatMap(({ text, places }) =>
    places.map((place) => [
      ...[text, place.case, `\`${place.arm}\``, against(place.than)],
      ...[times(place.claimed), interval(place), String(place.n), probability(place.pHolm)],
      [place.verdict, place.why].filter(Boolean).join(': '),
    ]),
  );
  const heads = ['claim', 'case', 'arm', 'against', 'claimed', 'here', 'rounds', 'p', 'verdict'];
  return [
    '### What the report claims',
    'How many times better in time, or in bytes: claimed, and here with the interval; p is corrected for all comparisons of this table. For ' +
      'bytes, 2.50 is enough, as the runtime itself allocates some. Of the variance and of the tasks without a fault: how many times ' +
      'better than the claimed bound.',
    markdown(heads, rows),
  ];
}

const against = (than) => {
  if (than === null) return 'a bound';
  return typeof than === 'string' ? `\`${than}\`` : `${number(than)} ns`;
};

const probability = (p) => (p === null ? '–' : p < 0.001 ? '<0.001' : p.toFixed(3));

function caseTable({ name, metrics: [first], subject = 'millrace', rounds }) {
  const names = Object.keys(rounds[0]);
  // The order of the first round is random.
  names.sort((a, b) => medianOf(rounds, a, first) - medianOf(rounds, b, first));
  const shown = Object.keys(columns).filter((metric) =>
    names.some((arm) => rounds[0][arm][metric] !== undefined),
  );
  const rows = names.map((arm) => [
    `\`${arm}\``,
    ...shown.map((metric) =>
      rounds[0][arm][metric] === undefined ? '' : number(medianOf(rounds, arm, metric)),
    ),
    arm === subject ? '' : interval(ahead(rounds, subject, arm, first)),
    percent(variation(rounds.map((round) => round[arm][first]))),
  ]);
  const { level: attained } = ahead(rounds, subject, names[0], first);
  return [
    `### ${name}`,
    `${rounds.length} rounds; intervals of ${level(attained)}.`,
    markdown(
      ['arm', ...shown.map((m) => columns[m]), `\`${subject}\` is ahead`, 'variation'],
      rows,
    ),
  ];
}

function ahead(rounds, subject, peer, metric) {
  const [ours, theirs] = [subject, peer].map((arm) => rounds.map((round) => round[arm][metric]));
  return timesBetter('lower', ours, theirs);
}

const interval = ({ ahead: estimate, lo, hi }) =>
  lo === null ? times(estimate) : `${times(estimate)} (${times(lo)} to ${times(hi)})`;

const times = (value) => value.toFixed(2);

const percent = (share) => `${(100 * share).toFixed(1)} %`;

const medianOf = (rounds, arm, metric) => median(rounds.map((round) => round[arm][metric]));

function number(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

const markdown = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
