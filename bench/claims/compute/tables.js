/**
 * The tables of the compute study with our own figures beside those of its four platforms, as Markdown. A cell is one thread → several
 * threads, as the study has them; it measured RSA and all tasks at once on several threads alone.
 */
import { escapeMarkdown, facts, NONE, range, times } from '@millrace/lab/report';
import { ALL, ELSEWHERE, FIBONACCI, RSA } from './paper.js';

/** The experiments of the page, in the order in which they are run. */
export const EXPERIMENTS = [
  ...['compute-fibonacci', 'compute-rsa', 'compute-all', 'compute-api', 'compute-balanced'],
];

const PLATFORMS = {
  EC2: { fibonacci: FIBONACCI, rsa: RSA, all: ALL },
  ...ELSEWHERE,
};

const INTRO = `# The compute study, table by table

The figures of R. Addula, *Improving the scalability of Node.js applications in the cloud* (2024), section 8, beside our own of the same
tasks at the same N. The [compute service](../../examples/compute/README.md) has the study's requests. Here they run on one machine: first on
the main thread, then in [a pool of threads](../reference/pool.md). The study's machines differ from ours and from each other, so that its columns are no
measure of ours: compare the two figures of a cell, and how they grow with N.

A cell is *one thread → several threads*, each the median. *Times better* is estimated from the ratio of each round, with its 95 % interval;
three rounds and fewer have none. EC2 and App Engine have 4 cores, EKS and GKE 8, of which containers got 6 or 7.

This page is generated. To measure all of it again, in about 40 minutes on 2 cores:

    make experiment NAME=compute`;

/**
 * @param {object[]} all results of `EXPERIMENTS`, those that there are
 * @returns {string}
 */
export function computePage(all) {
  const of = (name) => all.find(({ experiment }) => experiment === name);
  const parts = [
    INTRO,
    ...byN(of('compute-fibonacci'), 'fibonacci', {
      '## F(N)': 'fibonacci_ms',
      '## A call of another service beside F(N)': 'photos_ms',
      '## An API call beside F(N)': 'health_ms',
    }),
    ...byN(of('compute-rsa'), 'rsa', {
      '## The RSA task': 'rsa_ms',
      '## A call of another service beside the RSA task': 'photos_ms',
      '## An API call beside the RSA task': 'health_ms',
    }),
    ...byN(of('compute-all'), 'rsa', {
      '## 1,000,000 records beside F(N) and the RSA task': 'records_ms',
    }),
    ...lastCase(of('compute-all')),
    ...own(of('compute-api'), '## API calls at up to 4,000 a second, beside F(300,000)'),
    ...own(of('compute-balanced'), '## Threads of one process against Node’s own load balancing'),
    ...measured(all),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A table for each metric, with a row for each N. */
function byN(results, kind, tables) {
  if (results === undefined) return [];
  return Object.entries(tables).map(([head, metric]) => {
    const figures = results.figures.filter(
      (each) => each.metric === metric && nOf(each.case) !== null,
    );
    const rows = figures.map((figure) => [
      figure.case,
      ...here(figure),
      ...Object.values(PLATFORMS).map((of) => cell(of[kind][nOf(figure.case)], metric)),
    ]);
    return `${head}\n\n${table(['N', ...HERE, ...Object.keys(PLATFORMS)], rows)}`;
  });
}

/** F(2,000,000), RSA of 3,000,000 and the rest at the same time. */
function lastCase(results) {
  const figures = results?.figures.filter((each) => each.case.includes(';')) ?? [];
  if (figures.length === 0) return [];
  const rows = figures
    .filter(({ unit }) => unit === 'ms')
    .map((figure) => [
      figure.title,
      ...here(figure),
      ...Object.values(PLATFORMS).map(({ all }) => cell(all, figure.metric)),
    ]);
  const head = '## All at once: F(2,000,000), RSA of 3,000,000, records, calls';
  return [`${head}\n\n${table(['task', ...HERE, ...Object.keys(PLATFORMS)], rows)}`];
}

/** A table without columns of the study. */
function own(results, head) {
  if (results === undefined) return [];
  const rows = results.figures.map((figure) => [figure.case, figure.title, ...here(figure)]);
  const [control] = results.arms;
  const about = `The control is ${control.name}, the treatment ${results.figures[0]?.arm}.`;
  return [`${head}\n\n${about}\n\n${table(['case', 'figure', ...HERE], rows)}`];
}

const HERE = ['here', 'times better', 'rounds'];

function here({ control, treatment, ahead, lo, hi, n, unit, level }) {
  const shown = [control, treatment].map((value) => amount(value, unit));
  const interval = n >= 6 && level !== null ? ` (${range(lo, hi)})` : '';
  return [shown.join(' → '), ahead === null ? NONE : `${times(ahead)}×${interval}`, `${n}`];
}

/** Figures of the study; one where it has only several threads. */
function cell(row, metric) {
  const values = [row?.control?.[metric], row?.treatment?.[metric]];
  if (values.every((value) => value === undefined)) return NONE;
  return values
    .filter((value) => value !== undefined)
    .map((value) => amount(value, 'ms'))
    .join(' → ');
}

/** Long times in seconds. */
function amount(value, unit) {
  if (value === null || value === undefined) return NONE;
  const number = (shown) =>
    Number(shown.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 });
  if (unit === 'ms' && value >= 1000) return `${number(value / 1000)} s`;
  return unit === '' ? number(value) : `${number(value)} ${unit}`;
}

/** N of a label; null of one that says more. */
function nOf(label) {
  const n = Number(label.replaceAll(',', ''));
  return Number.isInteger(n) ? n : null;
}

function measured(all) {
  if (all.length === 0) return [];
  const names = ['processor', 'cores', 'memory', 'system', 'Node.js'];
  const same = facts(all[0]).filter(([name]) => names.includes(name));
  const dates = all.map(({ experiment, date, seconds }) => [
    ...[experiment, date.slice(0, 16).replace('T', ' '), `${Math.round(seconds / 60)} min`],
  ]);
  return [
    '## How it was measured',
    same.map(([name, text]) => `${name}: ${escapeMarkdown(text)}`).join('; '),
    table(['experiment', 'begun, UTC', 'took'], dates),
    'The lab describes [the method](../reference/lab.md).',
  ];
}

const table = (heads, rows) =>
  [heads, heads.map(() => '---'), ...rows.map((cells) => cells.map(escapeMarkdown))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
