import { duration, escapeMarkdown, moment, NONE, range, rows, times } from '@millrace/lab/report';
import { claimRows } from './claim-rows.js';

const HEAD = `<!-- Written by bench/claims/suite/main.js: change the experiments, or run them again. -->

# Results

What five documents claim, and what we measured. \`make experiment SIZE=medium\` writes this page;
\`SIZE=quick\` writes it from fewer rounds and cases. No figure is typed by hand.`;

const HOW = `*Times better* compares the treatment with the control: the estimate from the ratio of each round, with a 95 % interval. Above 1 is
better, whether more or less is wanted. *By* is the ratio that a claim was judged by, where that is not the claimed one. Verdicts:

- *met*: the whole interval reaches the claim; *met in part*: at some loads or arms only
- *not met*: none of the interval reaches the claim
- *refuted*: a gain was claimed, and the interval excludes a gain of 5 %
- *open*: the interval contains both
- *no difference*: nothing happened in either arm
- *refused*: a check failed, so the figure does not count
- *not measured*, *declined*: without a verdict, for the reason given

Of several loads or arms, *times better* has the range, and the verdict is followed by that of each. Figures *beside* a claim are of
another metric, without a verdict. [The experiments](#experiments) have each figure with its interval and p, which is of no difference,
two-sided, and corrected for the metrics of the experiment (Holm). A verdict comes from the interval; with a p above 0.05 it can be
chance. The first figure of a row, or the one after the metric, is the control's. An interval alone is of the difference. \`go\` is
\`make bench NAME=go\`; [its page](../benchmarks/go-tournament.md#what-the-report-claims) has its figures. [The
method](../../bench/claims/README.md).`;

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
  // A suite that went on in another way has more than one.
  const seeds = new Set(entries.flatMap(({ results }) => results?.seed ?? []));
  const command = `make experiment SIZE=${size}${seeds.size > 1 ? '' : ` SEED=${seed}`}`;
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

/** Makes a section for each document. */
function sections(found, make) {
  const sources = [...new Set(found.map(({ listed }) => listed.source))];
  return sources.flatMap((source) => [
    `### ${escapeMarkdown(source)}`,
    make(found.filter(({ listed }) => listed.source === source)),
  ]);
}

function claimTable(found) {
  const heads = ['claim', 'section', 'claimed', 'tested by', 'times better', 'verdict'];
  return table(heads, found.map(claimLine), [2, 4]);
}

function claimLine({ listed, verdict, why, places, beside }) {
  const claimed = claimedText(listed);
  const judged = [...new Set(places.map(thresholdText))].filter((text) => text !== claimed);
  return [
    ...[listed.text, listed.where, [claimed, ...judged].join(', by ')],
    ...[testedBy(listed, places, beside), gain(places), verdictText(listed, verdict, why, places)],
  ];
}

/** The verdict, and those of the places where they differ; the page of a benchmark has a line for each place. */
function verdictText({ bench }, verdict, why, places) {
  const reasonOf = (place) => place.why ?? place.says;
  const groups = new Map();
  for (const place of bench ? [] : places) {
    const key = `${place.verdict}: ${reasonOf(place)}`;
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  if (groups.size <= 1) {
    const reason = why ?? (groups.size === 1 ? reasonOf(places[0]) : null);
    return [verdict, reason].filter(Boolean).join(': ');
  }
  const told = [...groups.values()].map((some) => {
    const reason = reasonOf(some[0]);
    const names = some.map((place) => placeIn(places, place)).join(' / ');
    return `${names}: ${some[0].verdict}${reason ? ` (${reason})` : ''}`;
  });
  return `${verdict}: ${told.join('; ')}`;
}

/** Experiment, arm and load of a place, as far as those of others differ. */
function placeIn(places, place) {
  const differs = (key) => places.some((each) => each[key] !== place[key]);
  const parts = ['experiment', 'arm', 'case'].filter(differs).map((key) => place[key]);
  return parts.filter(Boolean).join(', ') || placeName(place);
}

/** The gain with its interval; of several places, from the least to the most. */
function gain(places) {
  const all = places.map(({ ahead }) => ahead).filter((ahead) => ahead !== null);
  if (all.length === 0) return NONE;
  if (places.length === 1) {
    const [{ ahead, lo, hi }] = places;
    return lo === null ? times(ahead) : `${times(ahead)} (${range(lo, hi)})`;
  }
  const [least, most] = [Math.min(...all), Math.max(...all)].map(times);
  return least === most ? least : `${least} to ${most}`;
}

function claimedText({ claimed, bound }) {
  if (bound) return `at most ${bound.atMost}`;
  return claimed === null ? 'no figure' : `${times(claimed)}×`;
}

function testedBy(listed, places, beside) {
  const [first] = places;
  const by = places.length === 1 ? [`${first.experiment}: ${placeName(first)}`] : testersOf(listed);
  const named = new Set(beside.map(({ experiment: name, title }) => `${name}, ${title}`));
  const also = named.size === 0 ? [] : [`beside: ${[...named].join('; ')}`];
  return [...by, ...also].join('; ') || NONE;
}

function testersOf({ tests, bound, bench }) {
  if (tests) return [[...new Set(tests.map(({ experiment }) => experiment))].join(', ')];
  if (bound) return [bound.experiment];
  return bench ? [`${bench.name}: ${bench.what}`] : [];
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
  const ended = `Ended: ${why === null ? state : `${state}: ${why}`}.`;
  if (results === null || results.figures.length === 0) {
    return [`### ${name}`, escapeMarkdown(`${question} ${ended}`)];
  }
  const { notes, arms } = results;
  const named = (of) => arms.filter(({ role }) => role === of).map((arm) => arm.name);
  const [[control], treatments] = [named('control'), named('treatment')];
  const hasArms = treatments.length > 1;
  const shown = rows(results).map((row) => {
    const title = row.unit === '' ? row.title : `${row.title}, ${row.unit}`;
    return { ...row, title: hasArms ? `${title}: ${row.control}` : title };
  });
  const cases = [...new Set(shown.map((row) => row.case))];
  const load = cases.length === 1 && cases[0] !== '' ? ` Load: ${cases[0]}.` : '';
  const counts = new Set(results.figures.map(({ n }) => n).filter(Boolean));
  const rounds = [...counts].sort((a, b) => a - b).join(' or ');
  const took = `${rounds === '' ? '' : `${rounds} rounds, `}${duration(results.seconds)}.`;
  const lead = [`${question}${load} ${took}`, ...(state === 'done' ? [] : [ended])];
  const columns = [
    ...(cases.length > 1 ? [['load', 'case']] : []),
    [hasArms ? `metric: ${control}` : 'metric', 'title'],
    hasArms ? ['arm', 'arm'] : [control, 'control'],
  ];
  const keys = columns.map(([, key]) => key);
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
      const places = keys.map((key) => (isAsAbove(key) ? '' : row[key]));
      return [...places, row.treatment, ratio(row), row.p, row.word];
    });
  const heads = [
    ...columns.map(([head]) => escapeMarkdown(head)),
    ...[hasArms ? 'treatment' : escapeMarkdown(treatments[0]), 'times better', 'p', 'found'],
  ];
  const first = heads.length - (hasArms ? 4 : 5);
  return [
    `### ${name}`,
    escapeMarkdown(lead.join(' ')),
    table(heads, lines, [first, first + 1, first + 2, heads.length - 2]),
    notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
  ];
}

/** The ratio with its interval; that of the difference, with signs, where there is no ratio. */
function ratio({ times: gained, interval }) {
  if (gained === NONE || interval === NONE) return gained === NONE ? interval : gained;
  return `${gained} (${interval})`;
}

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  if (lines.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  const body = lines.map((cells) => line(cells.map(escapeMarkdown)));
  return [line(heads), `|${marks.join('|')}|`, ...body].join('\n');
}
