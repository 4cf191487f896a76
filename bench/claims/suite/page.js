import {
  duration,
  escapeMarkdown,
  moment,
  NONE,
  pValue,
  range,
  rows,
  times,
} from '@millrace/lab/report';
import { claimRows } from './claim-rows.js';

const HEAD = `<!-- Written by bench/claims/suite/main.js: change the experiments, or run them again. -->

# Results

What five documents claim, and what we measured. \`make experiment SIZE=medium\` writes this page;
\`SIZE=quick\` writes it from fewer rounds and cases. No figure is typed by hand.`;

const HOW = `Each figure tells how many times better the treatment is, estimated from the ratio of each round, with a 95 % interval. Above 1
is better, whether more or less is wanted. Verdicts:

- *met*: the whole interval reaches the claim; *met in part*: at some loads or arms only
- *not met*: none of the interval reaches the claim
- *refuted*: a gain was claimed, and the interval excludes a gain of 5 %
- *open*: the interval contains both
- *no difference*: nothing happened in either arm
- *refused*: a check failed, so the figure does not count
- *not measured*, *declined*: without a verdict, for the reason given

A claim is judged on its own metric. Where another metric was measured too, it has a row below the claim, marked ↳, and no verdict.
p is of no difference, two-sided, and corrected for the metrics that were asked for together (Holm); of the claims of the tournament for all
of its comparisons. The verdict comes from the interval: a p above 0.05 beside it says that a difference of that size can be chance.

[experiments](../../bench/claims/README.md) describes the method.`;

/**
 * The page of results, as Markdown: every verdict and figure comes from what a suite, or a benchmark, has measured.
 *
 * @param {import('./run.js').Suite} suite
 * @param {import('../lib/claims.js').Listed[]} claims
 * @param {import('../../go/judge.js').JudgedClaim[]} [judged] of those that a benchmark tests
 * @returns {string}
 */
export function resultsPage(suite, claims, judged = []) {
  const found = claimRows(claims, suite.entries, { size: suite.size, judged });
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

const SIZE = {
  quick: 'A quick run: small cases and few rounds.',
  medium: 'A run of medium size: every claim, in ten rounds or so.',
  paper: 'A run of the papers’ size.',
};

function facts({ date, size, seed, seconds, entries }) {
  const host = entries.find(({ results }) => results)?.results.host;
  const command = `make experiment SIZE=${size} SEED=${seed}`;
  const on = host
    ? ` on ${host.cpu}, ${host.cores} cores, ${host.kernel}, Node.js ${host.node}`
    : '';
  return `${moment(date)}, \`${command}\`${escapeMarkdown(on)}; it took ${duration(seconds)}. ${SIZE[size]}`;
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
  const heads = [
    'claim',
    'section',
    'claimed',
    'measured',
    'p',
    'tested by',
    'verdict',
    'holds at',
  ];
  return table(
    heads,
    found.flatMap((row) => [claimLine(row), ...row.beside.map(besideLine)]),
    [2, 3, 4],
  );
}

const claimLine = ({ listed, verdict, why, places }) => [
  ...[listed.text, listed.where, claimedText(listed), span(places), leastEvidence(places)],
  ...[testedBy(listed), why === null ? verdict : `${verdict}: ${why}`, heldAt(places)],
];

const besideLine = ({ experiment: name, title, ahead, lo, hi, pHolm, finding, ...place }) => [
  ...[`↳ by another metric: ${title}`, '', 'not claimed', `${times(ahead)}× (${range(lo, hi)})`],
  ...[pValue(pHolm), name, `no verdict: ${finding}`, placeName(place)],
];

function claimedText({ claimed, bound }) {
  if (bound) return `at most ${bound.atMost}`;
  return claimed === null ? 'no figure' : `${times(claimed)}×`;
}

/** The largest p of all places. */
function leastEvidence(places) {
  const all = places.map(({ pHolm }) => pHolm).filter((p) => p !== null && p !== undefined);
  return all.length === 0 ? NONE : pValue(Math.max(...all));
}

/** From the least to the most of all places. */
function span(places) {
  const all = places.map(({ ahead }) => ahead).filter((ahead) => ahead !== null);
  if (all.length === 0) return NONE;
  const [least, most] = [Math.min(...all), Math.max(...all)].map(times);
  return least === most ? `${least}×` : `${least}–${most}×`;
}

function testedBy({ tests, bound, bench }) {
  if (tests) return [...new Set(tests.map(({ experiment }) => experiment))].join(', ');
  if (bound) return bound.experiment;
  return bench ? `make bench NAME=${bench.name}: ${bench.what}` : NONE;
}

function heldAt(places) {
  const met = places.filter(({ verdict }) => verdict === 'met');
  if (met.length === 0) return NONE;
  return met.length === places.length ? 'every load measured' : met.map(placeName).join('; ');
}

const placeName = ({ arm, case: label }) => [arm, label].filter(Boolean).join(', ');

function placeTable(found) {
  const lines = found.flatMap(({ listed, places }) =>
    places.map(({ experiment, ahead, lo, hi, n, pHolm, verdict, why, says, ...place }) => [
      ...[listed.text, experiment, armText(place), place.case, thresholdText(place)],
      ...[times(ahead), range(lo, hi), `${n ?? NONE}`, pValue(pHolm)],
      [verdict, why ?? says].filter(Boolean).join(': '),
    ]),
  );
  const heads = ['claim', 'experiment', 'arm', 'load', 'claimed', 'times better', 'interval'];
  return table([...heads, 'rounds', 'p', 'verdict'], lines, [4, 5, 6, 7, 8]);
}

/** An experiment's control is told with it; the arms of a benchmark are compared with each other. */
function armText({ arm, than }) {
  if (than === undefined || than === null) return arm;
  return typeof than === 'number' ? `${arm}, at most ${than} ns` : `${arm}, than ${than}`;
}

function thresholdText({ claimed, atLeast, atMost }) {
  return atMost === undefined ? `${times(claimed ?? atLeast)}×` : `at most ${atMost}`;
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
