import { LARGEST, LEAST_ROUNDS } from '@millrace/lab/experiment';
import { median } from '@millrace/lab/stats';
import { suiteNames } from './run.js';

/** Largest difference of the figure of a claim in a file from that of the list, where it is rounded. */
const SAME = 1e-3;

/**
 * Findings of a suite, and of the benchmarks beside it, for each claim of the list.
 *
 * @param {import('../lib/claims.js').Listed[]} listed
 * @param {import('./run.js').Entry[]} entries
 * @param {object} [more]
 * @param {import('../../../packages/lab/experiment/plan.js').Size} [more.size] of the suite, which has left out experiments of larger ones
 * @param {import('../../go/judge.js').JudgedClaim[]} [more.judged] what a benchmark says of the claims that it tests
 * @returns {ClaimRow[]}
 *
 * @typedef {object} ClaimRow
 * @property {import('../lib/claims.js').Listed} listed
 * @property {string} verdict of all places together: one of them when they agree; `met in part`; `declined`, `not measured`,
 *   `refused`, `failed`
 * @property {string | null} why
 * @property {Place[]} places where it was judged
 * @property {Beside[]} beside what was found under another metric
 *
 * @typedef {object} Place
 * @property {string} experiment
 * @property {string} case
 * @property {string} arm
 * @property {number | null} atLeast how many times better was claimed; null of a bound
 * @property {number} [atMost] the bound
 * @property {number | null} ahead
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {number | null} n rounds
 * @property {number | null} pHolm of no difference, corrected
 * @property {string} verdict
 * @property {string | null} why
 * @property {string | null} [says]
 *
 * @typedef {{ experiment: string, title: string }} Beside of a metric
 */
export const claimRows = (listed, entries, { size = LARGEST, judged = [] } = {}) =>
  listed.map((each) => ({
    listed: each,
    ...verdictOf(each, entries, { size, judged }),
    beside: besideOf(each, entries),
  }));

function verdictOf(listed, entries, { size, judged }) {
  const without = (verdict, why) => ({ verdict, why, places: [] });
  if (listed.declined) return without('declined', listed.declined);
  if (listed.bench) {
    const found = judged.find(({ text }) => text === listed.text);
    if (!found) return without('not measured', `not kept: ${commandOf(listed.bench)}`);
    const places = found.places.map((place) => ({
      ...{ experiment: listed.bench.name, says: null },
      ...place,
    }));
    return { ...(found.verdict ? { verdict: found.verdict, why: null } : overall(places)), places };
  }
  const asked = listed.bound ? [listed.bound] : listed.tests;
  const places = asked.flatMap((test) => placesOf(test, listed, entries));
  const told = places.filter(({ verdict }) => verdict !== 'not measured');
  if (told.length > 0) return { ...overall(told), places: told };
  const ended = asked
    .map((test) => entryOf(test, entries))
    .find((entry) => entry !== undefined && entry.state !== 'done');
  if (ended) return without(ended.state, ended.why);
  const names = [...new Set(asked.map(({ experiment }) => experiment))];
  const isLeftOut = suiteNames(names, size).length === 0;
  const notRun = isLeftOut ? 'only in a run of a larger size' : `not run: ${names.join(', ')}`;
  return without('not measured', places[0]?.why ?? notRun);
}

/** As a reader types it. */
const commandOf = ({ name }) => `make bench NAME=${name} SAVE=1`;

const entryOf = ({ experiment }, entries) =>
  entries.find((entry) => entry.experiment === experiment);

/** Returns the results of an experiment that count; null for a refused one, of which one reason says all. */
const countedOf = (test, entries) => {
  const entry = entryOf(test, entries);
  return entry?.state === 'refused' ? null : (entry?.results ?? null);
};

function placesOf(test, listed, entries) {
  const results = countedOf(test, entries);
  if (results === null) return [];
  if (listed.bound) return figuresOf(results, test).map((figure) => boundPlace(figure, test));
  return results.claims
    .filter((claim) => isOf(claim, test, listed))
    .map((claim) => ({ experiment: test.experiment, ...claim }));
}

const figuresOf = ({ figures }, { metric, arm }) =>
  figures.filter((each) => each.metric === metric && (arm === undefined || each.arm === arm));

/** "Never" is told by no interval: one round that does not keep it refutes it. */
function boundPlace(figure, { experiment, atMost }) {
  const { case: label, arm, ahead, lo, hi, n, pHolm, refused, values } = figure;
  const place = {
    ...{ experiment, case: label, arm, atLeast: null, atMost, ahead, lo, hi, n, pHolm, says: null },
  };
  const judged = (verdict, why) => ({ ...place, verdict, why });
  if (refused !== null) return judged('refused', refused);
  if (values.treatment.includes(null)) return judged('not measured', 'a run could not tell');
  const beyond = values.treatment.filter((value) => value > atMost);
  if (beyond.length > 0) {
    const middle = Number(median(values.treatment).toPrecision(2));
    return judged(
      'refuted',
      `beyond it in ${beyond.length} of ${n} rounds, in the middle by ${middle}`,
    );
  }
  return n < LEAST_ROUNDS
    ? judged('open', `kept in ${n} rounds; ${LEAST_ROUNDS} are the least`)
    : judged('met', null);
}

function besideOf({ beside = [] }, entries) {
  return beside.flatMap((test) => {
    const results = countedOf(test, entries);
    if (results === null) return [];
    return figuresOf(results, test).map(({ title }) => ({ experiment: test.experiment, title }));
  });
}

/** Reports whether a claim of an experiment is the one of the list. */
export function isOf(claim, { metric, arm }, { claimed }) {
  if (claim.metric !== metric) return false;
  if (arm !== undefined && !(claim.arms ?? [claim.arm]).includes(arm)) return false;
  return claimed === null || Math.abs(claim.atLeast / claimed - 1) < SAME;
}

/**
 * A claim that holds at some loads and not at others is neither met nor refuted. Where there was nothing in either arm
 * nothing is said of it: what was found elsewhere counts.
 */
function overall(all) {
  const told = all.filter(({ verdict }) => verdict !== 'no difference');
  const places = told.length > 0 ? told : all;
  const verdicts = new Set(places.map(({ verdict }) => verdict));
  const [first] = places;
  if (verdicts.size === 1) return { verdict: first.verdict, why: first.why };
  if (verdicts.has('met')) return { verdict: 'met in part', why: null };
  if (verdicts.has('open')) return { verdict: 'open', why: null };
  verdicts.delete('refused');
  return { verdict: verdicts.size === 1 ? [...verdicts][0] : 'not met', why: null };
}
