import { pairedShift } from '../stats/index.js';
import { LEAST_ROUNDS } from './detectable.js';
import { ratioSpread, roundsForRatio } from './noise.js';

/** A gain smaller than this is none. */
const NO_GAIN = 1.05;

/** The least level of an interval by which a claim is judged. */
const LEVEL = 0.95;

/**
 * The claims of an experiment, each at each of its cases and for each of its treatments. The interval decides:
 *
 * - `met`: all of it is at or above what was claimed
 * - `refuted`: a gain was claimed (5 % or more), and all of it is below a gain of 5 %
 * - `not met`: all of it is below what was claimed
 * - `open`: what was claimed lies within it, or it is no interval of 95 %; `why` says how many rounds would decide
 * - `refused`: the figure, or the whole case, does not count
 * - `no difference`: there was nothing in either arm, in all rounds: nothing to be better at
 * - `not measured`: its case was not run, a run could not tell, or values are below 0 and have no ratio
 *
 * Where a value is 0 there is no ratio. Then the differences decide: by how much the worse arm is more than so many
 * times the other, round by round. 1000 against 0 meets any claim, 0 against 1000 none.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./figure.js').Figure[]} figures of the cases that were measured
 * @param {Map<string, import('./errors.js').Refusal>} refusals by case
 * @param {{ cases?: string[], arms?: string[] }} [made] what was to be measured; default: all. Of a claim that has one of
 *   them the others, which a run of a smaller size leaves out, are not told
 * @returns {Judged[]}
 *
 * @typedef {'met' | 'not met' | 'refuted' | 'open' | 'no difference' | 'refused' | 'not measured'} Verdict
 *
 * @typedef {object} Judged
 * @property {string} text
 * @property {string} source
 * @property {string} metric
 * @property {string} case
 * @property {string} arm the treatment's name
 * @property {number} atLeast
 * @property {Verdict} verdict
 * @property {string | null} why it is open, no difference, refused or not measured
 * @property {number | null} ahead
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {number | null} n rounds
 * @property {number | null} p
 * @property {number | null} pHolm corrected over its family, see `finding.js`
 * @property {string | null} says what the outcome means, in the words of the experiment
 */
export function judgeClaims({ claims, cases, treatments }, figures, refusals, made = {}) {
  const labels = cases.map(({ label }) => label);
  const names = treatments.map(({ name }) => name);
  const isMade = (place) =>
    (made.cases ?? labels).includes(place.case) && (made.arms ?? names).includes(place.arm);
  return claims.flatMap((claim) => {
    const { text, source, metric, atLeast, says = {} } = claim;
    const asked = planned(claim.cases ?? labels, made.cases);
    const arms = planned(claim.arms ?? names, made.arms);
    const places = asked.flatMap((label) => arms.map((arm) => ({ case: label, arm })));
    return places.map((place) => {
      const figure = figures.find(
        (each) => each.metric === metric && each.case === place.case && each.arm === place.arm,
      );
      const refusal = refusals.get(place.case);
      const { verdict, why } = refusal
        ? { verdict: 'refused', why: refusal.why }
        : isMade(place)
          ? verdictOf(figure, atLeast)
          : { verdict: 'not measured', why: 'only in a run of a larger size' };
      const { ahead = null, lo = null, hi = null, n = null, p = null, pHolm = null } = figure ?? {};
      const measured = { ahead, lo, hi, n, p, pHolm };
      const named = { text, source, metric, ...place, atLeast };
      return { ...named, verdict, why, ...measured, says: says[verdict] ?? null };
    });
  });
}

/** Those of a claim that were to be measured; all of them when none was. */
function planned(asked, made = asked) {
  const found = asked.filter((name) => made.includes(name));
  return found.length > 0 ? found : asked;
}

/**
 * @param {import('./figure.js').Figure | undefined} figure
 * @param {number} atLeast how many times better the treatment is said to be
 * @returns {{ verdict: Verdict, why: string | null }}
 */
export function verdictOf(figure, atLeast) {
  if (figure === undefined) return { verdict: 'not measured', why: 'this case was not run' };
  const { ahead, lo, hi, level, n, refused } = figure;
  if (refused !== null) return { verdict: 'refused', why: refused };
  if (level === null) {
    return { verdict: 'not measured', why: figure.why ?? 'a run could not tell' };
  }
  const all = [...figure.values.control, ...figure.values.treatment];
  if (ahead === null && all.some((value) => value < 0)) {
    return { verdict: 'not measured', why: 'there is no ratio: a value is below 0' };
  }
  if (level < LEVEL) {
    const few = n === 1 ? '1 round gives' : `${n} rounds give`;
    return { verdict: 'open', why: `${few} no interval of 95 %; ${LEAST_ROUNDS} are the least` };
  }
  if (all.every((value) => value === 0)) return { verdict: 'no difference', why: NOTHING };
  if (ahead === null) return { verdict: verdictOfZeros(figure, atLeast), why: ZEROS };
  if (lo >= atLeast) return { verdict: 'met', why: null };
  if (atLeast >= NO_GAIN && hi < NO_GAIN) return { verdict: 'refuted', why: null };
  if (hi < atLeast) return { verdict: 'not met', why: null };
  return { verdict: 'open', why: whyOpen(figure, atLeast) };
}

const ZEROS = 'a value is 0, so that there is no ratio: judged by the differences of the rounds';

const NOTHING = 'none in either arm at this load';

/** For amounts more ÷ less >= ratio is more - ratio · less >= 0, which zeros do not harm. */
function verdictOfZeros({ better, values: { control, treatment } }, atLeast) {
  const [less, more] = better === 'higher' ? [control, treatment] : [treatment, control];
  const beyond = (ratio) =>
    pairedShift(
      less.map((value) => value * ratio),
      more,
    );
  const { lo, hi } = beyond(atLeast);
  if (lo > 0) return 'met';
  if (atLeast >= NO_GAIN && beyond(NO_GAIN).hi < 0) return 'refuted';
  return hi < 0 ? 'not met' : 'open';
}

/** By the distance of what was measured from what was claimed. */
function whyOpen({ ahead, n, values: { control, treatment } }, atLeast) {
  const rounds = roundsForRatio(ratioSpread(control, treatment), ahead / atLeast);
  if (rounds === null || rounds > 10_000)
    return 'what was measured is what was claimed, as near as can be told';
  return `needs about ${Math.max(rounds, n + 1).toLocaleString('en-US')} rounds to decide, ${n} were made`;
}
