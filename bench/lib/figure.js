/** A figure: what one line of a benchmark's output says. */
import { median, timesBetter } from './statistics.js';

/**
 * @typedef {object} Figure
 * @property {string} bench
 * @property {string} case
 * @property {string} metric
 * @property {string} unit
 * @property {'higher' | 'lower'} better
 * @property {string | null} peer null: compared with a bound
 * @property {string} backend the path that millrace used
 * @property {number} ours median of the rounds; of a share their mean
 * @property {number} [theirs] the same, of the peer
 * @property {number} [bound] in place of `theirs`
 * @property {number} ahead how many times better ours is: the Hodges-Lehmann estimate of the rounds' ratios
 * @property {number} lo the interval of `ahead`
 * @property {number} hi
 * @property {number} level of the interval: 0.95 or more, less with fewer than six rounds
 * @property {number} n rounds
 */

/**
 * @param {object} what the names of the figure: bench, case, metric, unit, better, peer, backend. Its `summary` is what `ours` and
 *   `theirs` are of the rounds, by default the median. Give a share of requests the mean: a median hides the exception
 * @param {number[]} ours one value a round
 * @param {number[] | number} theirs the same of the peer, or the bound when there is no peer
 * @returns {Figure}
 */
export function figure(
  { bench, case: name, metric, unit, better, peer, backend, summary = median },
  ours,
  theirs,
) {
  const bound = Array.isArray(theirs) ? null : theirs;
  const others = bound === null ? theirs : ours.map(() => bound);
  const wrong = [...ours, ...others].find((value) => !(value > 0 && Number.isFinite(value)));
  if (wrong !== undefined) {
    throw new RangeError(`${name}, ${metric}: there is no ratio with ${wrong}`);
  }
  const { ahead, lo, hi, level } = timesBetter(better, ours, others);
  return {
    bench,
    case: name,
    metric,
    unit,
    better,
    peer,
    backend,
    ours: round(summary(ours)),
    ...(bound === null ? { theirs: round(summary(theirs)) } : { bound }),
    ahead: round(ahead),
    lo: round(lo),
    hi: round(hi),
    level: Number(level.toPrecision(3)),
    n: ours.length,
  };
}

/** Five digits: more would be noise. */
function round(value) {
  return Number(value.toPrecision(5));
}
