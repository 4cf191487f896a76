/** Verdicts on the claims of the report, from what the rounds of a run measured. */
import { verdictOf } from '../../packages/lab/experiment/judge.js';
import { holm } from '../../packages/lab/stats/index.js';
import { timesBetter } from '../lib/statistics.js';
import { stability } from './cases.js';
import { claims, faultless, further, variance } from './claims.js';
import { variation } from './samples.js';

/**
 * @typedef {(name: string, arm: string, metric: string) => number[] | undefined} Values those of an arm in a case, one a round;
 *   undefined where they were not measured
 *
 * @typedef {object} Place where a claim was judged
 * @property {string} case
 * @property {string} arm
 * @property {string | number | null} than the other arm, or a bound
 * @property {string} [metric] where there is a figure of each round
 * @property {number} claimed how many times better it is said to be
 * @property {number} atLeast what is enough for that
 * @property {number} ahead how many times better it is
 * @property {number | null} lo of its interval; null for what has none
 * @property {number | null} hi
 * @property {number | null} n rounds
 * @property {number | null} pHolm of no difference, corrected for all places that are judged together
 * @property {string} verdict
 * @property {string | null} why it is open
 *
 * @typedef {object} JudgedClaim
 * @property {string} text
 * @property {Place[]} places
 * @property {string} [verdict] of all places together, where that is not what they have in common
 */

/** @param {Values} values @returns {JudgedClaim[]} those of which something was measured */
export const judgeClaims = (values) =>
  [...judged(values, claims), steady(values), withoutFault(values)].filter(isMeasured);

/** Judges what else the report says. @param {Values} values @returns {JudgedClaim[]} */
export const judgeFurther = (values) => judged(values, further).filter(isMeasured);

const isMeasured = ({ places }) => places.length > 0;

function judged(values, some) {
  const found = some.map(({ text, places: asked, isDenied }) => {
    const places = asked.flatMap((place) => measuredPlace(values, place, isDenied));
    return { text, places, ...(isDenied && { verdict: deniedTogether(places) }) };
  });
  const tested = found.flatMap(({ places }) => places);
  const corrected = holm(tested.map(({ p }) => p));
  for (const [i, place] of tested.entries()) {
    place.pHolm = corrected[i];
    delete place.p;
  }
  return found;
}

function measuredPlace(values, { case: name, of, than, claimed, least, metric }, isDenied) {
  const treatment = values(name, of, metric);
  const control =
    typeof than === 'number' ? treatment?.map(() => than) : values(name, than, metric);
  if (treatment === undefined || control === undefined) return [];
  const found = timesBetter('lower', treatment, control);
  const n = treatment.length;
  const figure = { ...found, n, refused: null, values: { control, treatment } };
  const { verdict, why } = verdictOf(figure, least);
  const { ahead, lo, hi, p } = found;
  return {
    ...{ case: name, arm: of, than, metric, claimed, atLeast: least, ahead, lo, hi, n, p, why },
    verdict: isDenied ? denied(verdict) : verdict,
  };
}

/** A claim that says that something cannot be is refuted by what is. */
function denied(verdict) {
  if (verdict === 'met') return 'refuted';
  return verdict === 'open' ? 'open' : 'met';
}

/** Verdict on gains that are said to exclude each other: met unless both were seen. */
function deniedTogether(places) {
  const verdicts = places.map(({ verdict }) => verdict);
  if (verdicts.includes('met')) return 'met';
  return verdicts.every((verdict) => verdict === 'refuted') ? 'refuted' : 'open';
}

function steady(values) {
  const places = variance.cases.flatMap((name) => {
    const each = values(name, 'millrace', 'ns_per_op');
    if (each === undefined) return [];
    const share = variation(each);
    return {
      ...point(name, variance.most / share, each.length),
      verdict: share < variance.most ? 'met' : 'not met',
    };
  });
  return { text: variance.text, places };
}

/** A fault ends the run. Numbered tasks are so many in each round, tasks under random load in all rounds together. */
function withoutFault(values) {
  const counted = [
    [faultless.numbered, (tasks) => Math.min(...tasks)],
    [stability.name, (tasks) => tasks.reduce((sum, each) => sum + each, 0)],
  ];
  const places = counted.flatMap(([name, count]) => {
    const tasks = values(name, 'millrace', 'tasks');
    if (tasks === undefined) return [];
    const all = count(tasks);
    const isMet = all >= faultless.tasks;
    const why = `${millions(all)} million tasks without a fault, of ${millions(faultless.tasks)}`;
    const place = point(name, all / faultless.tasks, tasks.length);
    return [{ ...place, verdict: isMet ? 'met' : 'open', why: isMet ? null : why }];
  });
  return { text: faultless.text, places };
}

const point = (name, ahead, n) => ({
  ...{
    case: name,
    arm: 'millrace',
    than: null,
    claimed: 1,
    atLeast: 1,
    ahead,
    lo: null,
    hi: null,
    n,
  },
  ...{ pHolm: null, why: null },
});

const millions = (count) => Math.floor(count / 1e6).toLocaleString('en-US');

/** Values of a run in progress. @param {{ name: string, rounds: Record<string, object>[] }[]} cases @returns {Values} */
export const valuesOfRounds = (cases) => (name, arm, metric) => {
  const rounds = cases.find((each) => each.name === name)?.rounds;
  if (rounds?.[0][arm]?.[metric] === undefined) return undefined;
  return rounds.map((round) => round[arm][metric]);
};

/** Values of the lines that are kept. @param {import('../tables/store.js').Run['figures']} figures @returns {Values} */
export const valuesOfLines = (figures) => (name, arm, metric) => {
  const lines = figures.filter(
    (each) => each.case === name && each.metric === metric && each.rounds !== undefined,
  );
  if (arm === 'millrace') return lines[0]?.rounds.map(([ours]) => ours);
  return lines.find(({ peer }) => peer === arm)?.rounds.map(([, theirs]) => theirs);
};
