import { escapeMarkdown } from '../report/escape.js';
import { duration, moment, NONE, pValue, range, times } from '../report/numbers.js';
import { rows } from '../report/rows.js';
import { claimRows } from './claim-rows.js';

const HEAD = `<!-- Written by lab/suite/main.js: change the experiments, or run them again. -->

# Results

What five documents claim, and what we measured. \`make experiment\` writes this page; \`make experiment
QUICK=1\` writes it from few rounds. No figure is typed by hand.`;

const HOW = `Each figure tells how many times better the treatment is, estimated from the ratio of each round, with a 95 % interval. Above 1
is better, whether more or less is wanted. Verdicts:

- *met*: the whole interval reaches the claim; *met in part*: at some loads or arms only
- *not met*: none of the interval reaches the claim
- *refuted*: a gain was claimed, and the interval excludes a gain of 5 %
- *open*: the interval contains both
- *no difference*: nothing happened in either arm
- *refused*: a check failed, so the figure does not count
- *benchmark*: judged on the page that is named
- *declined*: not measured, for the reason given

[experiments](../lab/experiments/README.md) describes the method.`;

/**
 * The page of results, as Markdown: every verdict and figure comes from what a suite has measured.
 *
 * @param {import('./run.js').Suite} suite
 * @param {import('../experiments/lib/claims.js').Listed[]} claims
 * @returns {string}
 */
export function resultsPage(suite, claims) {
  const found = claimRows(claims, suite.entries, suite);
  const parts = [
    HEAD,
    facts(suite),
    summary(found),
    HOW,
    '## Claims',
    ...sections(found, claimTable),
    '## Where each claim holds',
    placeTable(found),
    '## Experiments',
    experimentsTable(suite.entries),
    ...suite.entries.flatMap(experiment),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function facts({ date, quick, seed, seconds, entries }) {
  const host = entries.find(({ results }) => results)?.results.host;
  const command = `make experiment${quick ? ' QUICK=1' : ''} SEED=${seed}`;
  const on = host
    ? ` on ${host.cpu}, ${host.cores} cores, ${host.kernel}, Node.js ${host.node}`
    : '';
  const size = quick
    ? 'A quick run: small cases and few rounds.'
    : 'A full run, of the papers’ size.';
  return `${moment(date)}, \`${command}\`${escapeMarkdown(on)}; it took ${duration(seconds)}. ${size}`;
}

function summary(found) {
  const counts = new Map();
  for (const { verdict } of found) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const told = [...counts].sort(([, a], [, b]) => b - a).map(([verdict, n]) => `${n} ${verdict}`);
  return `Of ${found.length} claims: ${told.join(', ')}.`;
}

/** One for each document. */
function sections(found, make) {
  const sources = [...new Set(found.map(({ listed }) => listed.source))];
  return sources.flatMap((source) => [
    `### ${escapeMarkdown(source)}`,
    make(found.filter(({ listed }) => listed.source === source)),
  ]);
}

function claimTable(found) {
  const heads = ['claim', 'section', 'claimed', 'measured', 'tested by', 'verdict', 'holds at'];
  return table(
    heads,
    found.map(({ listed, verdict, why, places }) => [
      ...[
        listed.text,
        listed.where,
        listed.claimed === null ? 'no figure' : `${times(listed.claimed)}×`,
      ],
      ...[span(places), testedBy(listed), why === null ? verdict : `${verdict}: ${why}`],
      heldAt(places),
    ]),
    [2, 3],
  );
}

/** From the least to the most of all places. */
function span(places) {
  const all = places.map(({ ahead }) => ahead).filter((ahead) => ahead !== null);
  if (all.length === 0) return NONE;
  const [least, most] = [Math.min(...all), Math.max(...all)].map(times);
  return least === most ? `${least}×` : `${least}–${most}×`;
}

function testedBy({ tests, bench }) {
  if (tests) return [...new Set(tests.map(({ experiment }) => experiment))].join(', ');
  return bench ? `make bench NAME=${bench.name} (${bench.what}; docs/${bench.page})` : NONE;
}

function heldAt(places) {
  const met = places.filter(({ verdict }) => verdict === 'met');
  if (met.length === 0) return NONE;
  return met.length === places.length ? 'every load measured' : met.map(placeName).join('; ');
}

const placeName = ({ arm, case: label }) => [arm, label].filter(Boolean).join(', ');

function placeTable(found) {
  const lines = found.flatMap(({ listed, places }) =>
    places.map(({ experiment, atLeast, ahead, lo, hi, n, p, verdict, why, says, ...place }) => [
      ...[listed.text, experiment, place.arm, place.case, `${times(atLeast)}×`],
      ...[times(ahead), range(lo, hi), `${n ?? NONE}`, pValue(p)],
      [verdict, why ?? says].filter(Boolean).join(': '),
    ]),
  );
  const heads = ['claim', 'experiment', 'arm', 'load', 'claimed', 'times better', 'interval'];
  return table([...heads, 'rounds', 'p', 'verdict'], lines, [4, 5, 6, 7, 8]);
}

function experimentsTable(entries) {
  return table(
    ['experiment', 'question', 'how it ended', 'took'],
    entries.map(({ experiment, question, state, why, results }) => [
      ...[experiment, question, why === null ? state : `${state}: ${why}`],
      duration(results?.seconds),
    ]),
    [3],
  );
}

function experiment({ experiment: name, question, results }) {
  if (results === null || results.figures.length === 0) return [];
  const { notes, arms } = results;
  const isAlone = arms.filter(({ role }) => role === 'treatment').length === 1;
  const heads = ['load', 'metric', ...(isAlone ? [] : ['arm']), 'control', 'treatment'];
  const lines = rows(results).map((row) => [
    ...[row.case, row.unit === '' ? row.title : `${row.title}, ${row.unit}`],
    ...(isAlone ? [] : [row.arm]),
    ...[row.control, row.treatment, row.times, row.interval, row.p, row.word],
  ]);
  const first = heads.length - 2;
  return [
    `### ${name}`,
    escapeMarkdown(`${question} ${armNames(arms)}`),
    table(
      [...heads, 'times better', 'interval', 'p', 'found'],
      lines,
      [0, 1, 2, 3, 4].map((i) => first + i),
    ),
    notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
  ];
}

function armNames(arms) {
  const named = (role) => arms.filter((arm) => arm.role === role).map(({ name }) => name);
  return `Control: ${named('control')}; treatment: ${named('treatment').join(', ')}.`;
}

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  if (lines.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  return [heads, marks, ...lines.map((cells) => cells.map(escapeMarkdown))].map(line).join('\n');
}
