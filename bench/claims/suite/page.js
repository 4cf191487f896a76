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

const HOW = `*Times better* compares the treatment with the control: the estimate from the ratio of each round, with a 95 % interval. Above 1 is
better, whether more or less is wanted. Verdicts:

- *met*: the whole interval reaches the claim; *met in part*: at some loads or arms only
- *not met*: none of the interval reaches the claim
- *refuted*: a gain was claimed, and the interval excludes a gain of 5 %
- *open*: the interval contains both
- *no difference*: nothing happened in either arm
- *refused*: a check failed, so the figure does not count
- *not measured*, *declined*: without a verdict, for the reason given

A claim that was tested at several loads or arms has a row for each (↳), with the ratio that it was judged by where that is not the claimed
one. A figure of another metric is *beside* the claim, without a verdict. p is of no difference, two-sided, and corrected for the metrics that
were asked for together (Holm); of the claims of the tournament for all of its comparisons. The verdict comes from the interval: a p above 0.05
beside it says that a difference of that size can be chance. \`go\` is the benchmark \`make bench NAME=go\`; [its
page](../benchmarks/go-tournament.md#what-the-report-claims) has each place of its claims.

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
    '## Experiments',
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
  const heads = ['claim', 'section', 'claimed', 'tested by', 'times better', 'interval', 'rounds'];
  return table(
    [...heads, 'p', 'verdict'],
    found.flatMap((row) => [...claimLines(row), ...row.beside.map(besideLine)]),
    [2, 4, 5, 6, 7],
  );
}

/** One line; with several places one for all of them, and one for each. A reason stands once where it does not change. */
function claimLines({ listed, verdict, why, places }) {
  const claimed = claimedText(listed);
  const told = why === null ? verdict : `${verdict}: ${why}`;
  const judged = (place) => [thresholdText(place)].filter((text) => text !== claimed);
  if (places.length === 1) {
    const [place] = places;
    const [, ...cells] = placeCells(place);
    const at = `${place.experiment}: ${placeName(place)}`;
    return [[listed.text, listed.where, [claimed, ...judged(place)].join(', by '), at, ...cells]];
  }
  const all = [span(places), '', '', leastEvidence(places)];
  const names = new Set(places.map(({ experiment: name }) => name));
  return [
    [listed.text, listed.where, claimed, testedBy(listed), ...all, told],
    // The page of a benchmark has a line for each place.
    ...(listed.bench ? [] : places).map((place, i) => {
      const reason = place.why ?? place.says;
      const isAsAbove = i > 0 && reason === (places[i - 1].why ?? places[i - 1].says);
      const [name, ...cells] = placeCells(isAsAbove ? { ...place, why: null, says: null } : place);
      const at = names.size > 1 ? `${place.experiment}: ${name}` : name;
      return ['↳', '', judged(place).join(''), at, ...cells];
    }),
  ];
}

const placeCells = ({ ahead, lo, hi, n, pHolm, verdict, why, says, ...place }) => [
  ...[placeName(place), times(ahead), range(lo, hi), `${n ?? NONE}`, pValue(pHolm)],
  [verdict, why ?? says].filter(Boolean).join(': '),
];

const besideLine = ({ experiment: name, title, ahead, lo, hi, pHolm, finding, ...place }) => [
  ...[`↳ beside: ${title}`, '', '', `${name}: ${placeName(place)}`, times(ahead), range(lo, hi)],
  ...['', pValue(pHolm), finding],
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
  return least === most ? least : `${least}–${most}`;
}

function testedBy({ tests, bound, bench }) {
  if (tests) return [...new Set(tests.map(({ experiment }) => experiment))].join(', ');
  if (bound) return bound.experiment;
  return bench ? `${bench.name}: ${bench.what}` : NONE;
}

/** An experiment's control is told with it; the arms of a benchmark are compared with each other. */
function placeName({ arm, than, case: label }) {
  const against = typeof than === 'number' ? `${arm}, at most ${than} ns` : `${arm} than ${than}`;
  return [than === undefined || than === null ? arm : against, label].filter(Boolean).join(', ');
}

function thresholdText({ claimed, atLeast, atMost }) {
  return atMost === undefined ? `${times(claimed ?? atLeast)}×` : `at most ${atMost}`;
}

/** The end of an experiment, and its figures: by load, metric and arm, each named where it changes. */
function experiment({ experiment: name, question, state, why, results }) {
  const took = results === null ? '' : `, ${duration(results.seconds)}`;
  const ended = `Ended: ${why === null ? state : `${state}: ${why}`}${took}.`;
  if (results === null || results.figures.length === 0) {
    return [`### ${name}`, escapeMarkdown(`${question} ${ended}`)];
  }
  const { notes, arms } = results;
  const shown = rows(results).map((row) => ({
    ...row,
    title: row.unit === '' ? row.title : `${row.title}, ${row.unit}`,
  }));
  const cases = [...new Set(shown.map((row) => row.case))];
  const load = cases.length === 1 && cases[0] !== '' ? ` Load: ${cases[0]}.` : '';
  const columns = {
    ...(cases.length > 1 && { load: 'case' }),
    metric: 'title',
    control: 'control',
    ...(arms.filter(({ role }) => role === 'treatment').length > 1 && { arm: 'arm' }),
  };
  const keys = Object.values(columns);
  const lines = cases
    .flatMap((label) => {
      const ofCase = shown.filter((row) => row.case === label);
      const titles = [...new Set(ofCase.map(({ title }) => title))];
      return titles.flatMap((title) => ofCase.filter((row) => row.title === title));
    })
    .map((row, i, all) => {
      const isAsAbove = (key) =>
        i > 0 &&
        keys.slice(0, keys.indexOf(key) + 1).every((each) => all[i - 1][each] === row[each]);
      const named = keys.map((key) => (isAsAbove(key) ? '' : row[key]));
      return [...named, row.treatment, row.times, row.interval, row.p, row.word];
    });
  const heads = Object.keys(columns).concat('treatment', 'times better', 'interval', 'p', 'found');
  return [
    `### ${name}`,
    escapeMarkdown(`${question} ${armNames(arms)}${load} ${ended}`),
    table(
      heads,
      lines,
      ['control', 'treatment', 'times better', 'interval', 'p'].map((head) => heads.indexOf(head)),
    ),
    notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
  ];
}

function armNames(arms) {
  const named = (role) => arms.filter((arm) => arm.role === role).map(({ name }) => name);
  return `Control: ${named('control')}; treatment: ${named('treatment').join('; ')}.`;
}

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  if (lines.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  return [heads, marks, ...lines.map((cells) => cells.map(escapeMarkdown))].map(line).join('\n');
}
