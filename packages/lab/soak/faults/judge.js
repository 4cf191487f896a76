/** What is made of the numbers. Each judgement has a word (`met`, `refuted` or `undecided`) and sentences that say why. */
import { trend } from './trend.js';

/** What memory may grow in an hour, as a share. */
const MAX_GROWTH = 0.01;

/** Below these a slope says nothing of an hour: what a program loads when it is first needed would be taken for a leak. */
const LEAST_HOURS = 1 / 3;
const LEAST_POINTS = 12;

/**
 * For half an hour code is run for the first time, whose pages come in, and free memory spreads over more pages: then both stay as they
 * are.
 */
const WARM_UP = { share: 0.5, mostS: 30 * 60 };

export const warmUpOf = (seconds) => Math.min(seconds * WARM_UP.share, WARM_UP.mostS);

/**
 * Whether a quantity grows by less than 1 % an hour.
 *
 * @param {[seconds: number, value: number][]} all
 * @param {{ warmUpS: number, seed: number }} options
 * @returns {Growth}
 *
 * @typedef {object} Growth
 * @property {'met' | 'refuted' | 'undecided'} word
 * @property {number | null} perHour as a share of what it was after the warm-up; null where there are too few points
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {string} why
 */
export function judgeGrowth(all, { warmUpS, seed }) {
  const points = all
    .filter(([seconds]) => seconds >= warmUpS)
    .map(([seconds, value]) => [seconds / 3600, value]);
  if (points.length < 3) {
    return { word: 'undecided', perHour: null, lo: null, hi: null, why: 'too few values' };
  }
  const { slope, lo, hi, at } = trend(points, { seed });
  const start = at(points[0][0]);
  const found = { perHour: slope / start, lo: lo / start, hi: hi / start };
  const hours = points.at(-1)[0] - points[0][0];
  if (hours < LEAST_HOURS || points.length < LEAST_POINTS) {
    const why = `${Math.round(hours * 60)} min after the warm-up say nothing of an hour`;
    return { word: 'undecided', ...found, why };
  }
  if (found.hi < MAX_GROWTH) return { word: 'met', ...found, why: 'the whole interval is below' };
  if (found.lo > MAX_GROWTH)
    return { word: 'refuted', ...found, why: 'the whole interval is above' };
  return { word: 'undecided', ...found, why: 'the interval has both sides of it' };
}

/**
 * What a process may have at rest: the most that one of its kind had at the first rest. Each loads a little later what it needs now and
 * then, and one that replaces another is as good as it.
 *
 * @param {Record<string, Record<string, number>>} counts by process (`primary`, `process 2`), by what is counted
 * @returns {(who: string, what: string) => number}
 */
export function allowance(counts) {
  const kind = (who) => who.split(' ')[0];
  return (who, what) =>
    Object.entries(counts)
      .filter(([other]) => kind(other) === kind(who))
      .reduce((most, [, each]) => Math.max(most, each[what] ?? 0), 0);
}

/**
 * Whether counts at rest are what they were: none is higher than at the first rest.
 *
 * @param {{ seconds: number, counts: Record<string, Record<string, number>> }[]} rests
 * @returns {string[]} a sentence for each that is higher
 */
export function grownCounts(rests) {
  const [first, ...others] = rests;
  if (first === undefined) return ['nothing was counted'];
  const allowed = allowance(first.counts);
  const then = Math.round(first.seconds);
  return others.flatMap(({ seconds, counts }) =>
    Object.entries(counts).flatMap(([who, now]) =>
      Object.entries(now)
        .filter(([what, count]) => count > allowed(who, what))
        .map(
          ([what, count]) =>
            `${who} has ${count} × ${what} after ${Math.round(seconds)} s, ${allowed(who, what)} after ${then} s`,
        ),
    ),
  );
}
