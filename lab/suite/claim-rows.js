import { suiteNames } from './run.js';

/** By so much the figure of a claim in a file may differ from that of the list: it is rounded there. */
const SAME = 1e-3;

/**
 * What a suite has found of each claim of the list.
 *
 * @param {import('../experiments/lib/claims.js').Listed[]} listed
 * @param {import('./run.js').Entry[]} entries
 * @param {{ quick?: boolean }} [suite] whether it was quick, and has left out experiments
 * @returns {ClaimRow[]}
 *
 * @typedef {object} ClaimRow
 * @property {import('../experiments/lib/claims.js').Listed} listed
 * @property {string} verdict of all places together: one of them when they agree; `met in part`; `declined`,
 *   `benchmark`, `not measured`, `refused`, `failed`
 * @property {string | null} why
 * @property {(import('../experiment/verdict.js').Judged & { experiment: string })[]} places where it was judged: experiment, case, arm
 */
export const claimRows = (listed, entries, { quick = false } = {}) =>
  listed.map((each) => rowOf(each, entries, quick));

function rowOf(listed, entries, quick) {
  if (listed.declined) return { listed, verdict: 'declined', why: listed.declined, places: [] };
  if (listed.bench) return { listed, verdict: 'benchmark', why: null, places: [] };
  const asked = listed.tests.map((test) => ({
    test,
    entry: entries.find(({ experiment }) => experiment === test.experiment),
  }));
  const places = asked.flatMap(({ test, entry }) =>
    // Of a refused experiment one reason says all.
    (entry?.state === 'refused' ? [] : (entry?.results?.claims ?? []))
      .filter((claim) => isOf(claim, test, listed))
      .map((claim) => ({ experiment: test.experiment, ...claim })),
  );
  const judged = places.filter(({ verdict }) => verdict !== 'not measured');
  if (judged.length > 0) return { listed, ...overall(judged), places: judged };
  const ended = asked.find(({ entry }) => entry !== undefined && entry.state !== 'done')?.entry;
  if (ended) return { listed, verdict: ended.state, why: ended.why, places: [] };
  const names = [...new Set(asked.map(({ test }) => test.experiment))];
  const isLeftOut = quick && suiteNames(names, true).length === 0;
  const notRun = isLeftOut ? 'only in a full run' : `not run: ${names.join(', ')}`;
  return { listed, verdict: 'not measured', why: places[0]?.why ?? notRun, places: [] };
}

/** Whether a claim of an experiment is the one of the list. */
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
