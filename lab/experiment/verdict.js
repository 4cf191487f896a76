/** A gain smaller than this is none: two runs of the same program differ by as much. */
const NO_GAIN = 1.05;

/**
 * What the rounds say about a claim. All rounds decide: where the claimed figure lies among them, more rounds
 * are needed to tell.
 *
 * - `met`: at least as much in every round
 * - `refuted`: a gain was claimed, and in no round there was one (5 % or more)
 * - `not met`: less than claimed in every round
 * - `open`: some rounds say this, some that, or there was one only
 *
 * @param {{ lo: number, hi: number, n: number }} figure
 * @param {number} atLeast how many times better the treatment is said to be
 * @returns {'met' | 'refuted' | 'not met' | 'open'}
 */
export function verdict({ lo, hi, n }, atLeast) {
  if (n < 2) return 'open';
  if (lo >= atLeast) return 'met';
  if (atLeast >= NO_GAIN && hi < NO_GAIN) return 'refuted';
  return hi < atLeast ? 'not met' : 'open';
}

/**
 * The claims of an experiment, each at each of its cases.
 *
 * @param {import('./format.js').Claim[]} claims
 * @param {import('./figure.js').Figure[]} figures of the cases that were measured
 * @param {import('./format.js').Case[]} cases all
 * @returns {Judged[]}
 *
 * @typedef {object} Judged
 * @property {string} text
 * @property {string} source
 * @property {string} metric
 * @property {string} case
 * @property {number} atLeast
 * @property {'met' | 'refuted' | 'not met' | 'open' | 'not measured'} verdict
 * @property {number | null} ahead
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {string | null} says what the outcome means
 */
export function judge(claims, figures, cases) {
  return claims.flatMap(({ text, source, metric, atLeast, says = {}, ...claim }) =>
    (claim.cases ?? cases.map(({ label }) => label)).map((label) => {
      const figure = figures.find((each) => each.case === label && each.metric === metric);
      const isMeasured = figure !== undefined && figure.ahead !== null;
      const outcome = isMeasured ? verdict(figure, atLeast) : 'not measured';
      const { ahead = null, lo = null, hi = null } = isMeasured ? figure : {};
      const named = { text, source, metric, case: label, atLeast };
      return { ...named, verdict: outcome, ahead, lo, hi, says: says[outcome] ?? null };
    }),
  );
}
