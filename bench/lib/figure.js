/** A figure: what one line of a benchmark's output says. */
import { bootstrapInterval, median, timesBetter } from './statistics.js';

/**
 * @typedef {object} Figure
 * @property {string} bench
 * @property {string} case
 * @property {string} metric
 * @property {string} unit
 * @property {'higher' | 'lower'} better
 * @property {string | null} peer null: compared with a bound
 * @property {string} backend the path that millrace used
 * @property {number} ours median of the rounds
 * @property {number} [theirs] the same, of the peer
 * @property {number} [bound] in place of `theirs`
 * @property {number} ahead how many times better ours is: the median over the rounds
 * @property {number} lo the 95 % interval of `ahead`
 * @property {number} hi
 * @property {number} n rounds
 */

/**
 * @param {object} what the names of the figure: bench, case, metric, unit, better, peer, backend
 * @param {number[]} ours one value a round
 * @param {number[] | number} theirs the same of the peer, or the bound when there is no peer
 * @param {number} seed of the bootstrap
 * @returns {Figure}
 */
export function figure(
  { bench, case: name, metric, unit, better, peer, backend },
  ours,
  theirs,
  seed,
) {
  const bound = Array.isArray(theirs) ? null : theirs;
  const ratios = ours.map((value, round) => timesBetter(better, value, bound ?? theirs[round]));
  if (!ratios.every((ratio) => ratio > 0 && Number.isFinite(ratio))) {
    throw new RangeError(`${name}, ${metric}: the ratios ${ratios.join(', ')} cannot be compared`);
  }
  const [lo, hi] = bootstrapInterval(ratios, seed);
  return {
    bench,
    case: name,
    metric,
    unit,
    better,
    peer,
    backend,
    ours: round(median(ours)),
    ...(bound === null ? { theirs: round(median(theirs)) } : { bound }),
    ahead: round(median(ratios)),
    lo: round(lo),
    hi: round(hi),
    n: ours.length,
  };
}

/** Five digits: more would be noise. */
function round(value) {
  return Number(value.toPrecision(5));
}
