/**
 * The outcome of a soak: seven criteria, each `met`, `refuted` or `undecided`, with the evidence for it. Pure: the same records give the
 * same outcome.
 *
 * Memory is the difficult one. It swings, neighbours in time are alike, and a program goes on loading code for half an hour. So it is looked
 * at only at rest, after a full collection and after the warm-up; the slope is the median of the slopes between all pairs of points (Theil
 * and Sen), which single odd values do not move; its interval comes from a bootstrap that draws the residuals in blocks of neighbours, so
 * that slow swings are not taken for independent values. Less than 1 % an hour is met when the whole interval is below it, refuted when the
 * whole interval is above it, and undecided otherwise, as it always is below twenty minutes.
 */
import { median, quantile, randomFrom } from '@millrace/lab/stats';
import { SURVIVOR } from './plan.js';

/** Processes that live from the beginning to the end. A killed process begins anew, and hides its leaks. */
const LASTING = ['primary', `process ${SURVIVOR}`];

const MEMORY = {
  heap: { title: 'JavaScript heap and buffers', isJudged: true },
  rss: { title: 'resident memory', isJudged: true },
  /** Memory of a few megabytes, of which what is there for a moment is some per cent. */
  native: { title: 'memory allocated by the C library', isJudged: false },
};

/**
 * @param {object} raw
 * @param {number} raw.seconds
 * @param {number} raw.seed
 * @param {boolean} [raw.isFaulty] whether faults were planned
 * @param {import('./run.js').Found} raw.found
 * @param {{ acknowledged: number, counts: Record<string, number>, faults: string[] }} raw.ledger
 * @param {string[]} raw.saved what is wrong with the database
 * @param {{ code: number | string, left: number[] }} raw.stop
 * @param {string[]} raw.said lines on stderr that nobody expects
 * @returns {{ word: 'met' | 'refuted' | 'undecided', criteria: Criterion[], growth: object[] }}
 *
 * @typedef {object} Criterion
 * @property {string} name
 * @property {'met' | 'refuted' | 'undecided'} word
 * @property {string} text what it was judged by
 * @property {string[]} faults what was wrong
 */
export function outcome({ seconds, seed, isFaulty = true, found, ledger, saved, stop, said }) {
  const { faults, rests, waves, server } = found;
  const growth = growthOf(rests, { warmUpS: warmUpOf(seconds), seed });
  const counted = rests
    .filter(({ counts }) => counts !== undefined)
    .map(({ atS, counts }) => ({ seconds: atS, counts }));
  const badWaves = waves.filter(({ failed }) => failed !== null);
  const delivered = waves.reduce((sum, wave) => sum + (wave.delivered ?? 0), 0);
  const notWhole = faults.filter(({ wholeAfterS }) => wholeAfterS === null);
  const recoveries = faults.map(({ wholeAfterS }) => wholeAfterS).filter((each) => each !== null);
  const waveAcks = waves.reduce((sum, { acks = 0 }) => sum + acks, 0);
  const criteria = [
    criterion(
      'No acknowledged message is lost',
      `${number(ledger.acknowledged + waveAcks)} acknowledged messages were looked for in the database`,
      ledger.acknowledged === 0 ? ['nothing was acknowledged', ...saved] : saved,
    ),
    criterion(
      'Deliveries come once and in order, and none is missing while there is no fault',
      `${number(ledger.counts.heard ?? 0)} deliveries to people, and ${number(delivered)} in ${waves.length} waves of the generator`,
      [
        ...ledger.faults,
        ...badWaves.map(({ atS, failed }) => `the wave at ${Math.round(atS)} s: ${failed}`),
      ],
    ),
    memory(growth),
    counted.length < 2
      ? { ...criterion(COUNTS, 'there was one long rest', []), word: 'undecided' }
      : criterion(
          COUNTS,
          `${counted.length} long rests, each against the first`,
          grownCounts(counted),
        ),
    criterion(
      'The service recovers after each fault',
      recoveries.length > 0
        ? `${faults.length} faults; the longest took ${Math.max(...recoveries).toFixed(1)} s`
        : isFaulty
          ? `${faults.length} faults`
          : 'no fault was planned',
      [
        ...(isFaulty && faults.length === 0 ? ['there was no fault'] : []),
        ...notWhole.map(({ title, atS, failed }) => `${title} at ${Math.round(atS)} s: ${failed}`),
      ],
    ),
    criterion(
      'No unhandled error, and no process that ends by itself',
      'what processes counted, how they ended, and what they wrote on stderr',
      [...server, ...said.map((line) => `on stderr: ${line}`)],
    ),
    criterion(
      'SIGTERM ends the service with code 0, and leaves no process',
      `it ended with ${stop.code}`,
      [
        ...(stop.code === 0 ? [] : [`it ended with ${stop.code}`]),
        ...(stop.left.length === 0 ? [] : [`processes ${stop.left.join(', ')} were left`]),
      ],
    ),
  ];
  return { word: worst(criteria), criteria, growth };
}

const COUNTS = 'Descriptors, handles and threads at rest do not grow';

const criterion = (name, text, faults) => ({
  ...{ name, word: faults.length > 0 ? 'refuted' : 'met' },
  ...{ text, faults },
});

/** @returns {object[]} of each lasting process and kind of memory that is known: where it was, and how it grew */
function growthOf(rests, options) {
  const isKnown = ([key]) => rests.some(({ vitals }) => LASTING.some((who) => vitals[who]?.[key]));
  return LASTING.flatMap((who) =>
    Object.entries(MEMORY)
      .filter(isKnown)
      .map(([key, { title, isJudged }]) => {
        const points = rests
          .filter(({ vitals }) => vitals[who] !== undefined)
          .map(({ atS, vitals }) => [atS, vitals[who][key]]);
        const judged = judgeGrowth(points, options);
        return { who, key, title, points, ...judged, ...(!isJudged && { word: 'not judged' }) };
      }),
  );
}

function memory(growth) {
  const faults = growth
    .filter(({ word }) => word === 'refuted')
    .map(({ who, title, ...each }) => `${title} of ${who}: ${perHour(each)} an hour`);
  const open = growth.filter(({ word }) => word === 'undecided');
  return {
    name: 'Memory grows by less than 1 % an hour',
    word: faults.length > 0 ? 'refuted' : open.length > 0 ? 'undecided' : 'met',
    text: 'the growth of memory at rest, below',
    faults: [
      ...faults,
      ...open.map(({ who, title, why }) => `not decided: ${title} of ${who}: ${why}`),
    ],
  };
}

/** `+0.31 % (−0.10 to +0.70)`; no figure for a run that is too short to have one. */
export function perHour({ perHour: slope, lo, hi }) {
  if (slope === null) return 'too short to tell';
  return `${share(slope)} % (${share(lo)} to ${share(hi)})`;
}

const share = (value) => {
  const text = Math.abs(value * 100).toFixed(2);
  return `${value < 0 ? '−' : '+'}${text}`;
};

const number = (value) => value.toLocaleString('en-US');

function worst(criteria) {
  const words = criteria.map(({ word }) => word);
  return ['refuted', 'undecided'].find((word) => words.includes(word)) ?? 'met';
}

/** Growth of memory that is allowed in an hour, as a share. */
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
 * Reports whether a quantity grows by less than 1 % an hour.
 *
 * @param {[seconds: number, value: number][]} all
 * @param {{ warmUpS: number, seed: number }} options
 * @returns {Growth}
 *
 * @typedef {object} Growth
 * @property {'met' | 'refuted' | 'undecided'} word
 * @property {number | null} perHour as a share of what it was after the warm-up; null below twenty minutes or twelve points, which tell nothing
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {string} why
 */
export function judgeGrowth(all, { warmUpS, seed }) {
  const points = all
    .filter(([seconds]) => seconds >= warmUpS)
    .map(([seconds, value]) => [seconds / 3600, value]);
  const hours = points.length > 0 ? points.at(-1)[0] - points[0][0] : 0;
  if (hours < LEAST_HOURS || points.length < LEAST_POINTS) {
    const why = `${Math.round(hours * 60)} min after the warm-up say nothing of an hour`;
    return { word: 'undecided', perHour: null, lo: null, hi: null, why };
  }
  const { slope, lo, hi, at } = trend(points, { seed });
  const start = at(points[0][0]);
  const found = { perHour: slope / start, lo: lo / start, hi: hi / start };
  if (found.hi < MAX_GROWTH) return { word: 'met', ...found, why: 'the whole interval is below' };
  if (found.lo > MAX_GROWTH)
    return { word: 'refuted', ...found, why: 'the whole interval is above' };
  return { word: 'undecided', ...found, why: 'the interval has both sides of it' };
}

/**
 * Limits of a process at rest: the most that one of its kind had at the first rest. Each loads a little later what it needs now and
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
 * Reports whether counts at rest are what they were: none is higher than at the first rest.
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

const RESAMPLES = 1000;

/**
 * The median of the slopes between all pairs of points (Theil and Sen), and an interval by a bootstrap that draws the residuals in
 * blocks of neighbours, so that slow swings are not taken for independent values.
 *
 * @param {[number, number][]} points x ascending, 3 or more
 * @param {{ seed: number, level?: number }} options
 * @returns {{ slope: number, lo: number, hi: number, level: number, at: (x: number) => number }} `at` is the line
 */
function trend(points, { seed, level = 0.95 }) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const slope = theilSen(xs, ys);
  const offset = median(ys.map((y, i) => y - slope * xs[i]));
  const residuals = ys.map((y, i) => y - slope * xs[i] - offset);
  const random = randomFrom(seed);
  const length = Math.max(1, Math.round(points.length ** (1 / 3)));
  // The residuals of a fitted line are smaller than the noise was: two degrees of freedom went into it.
  const widening = Math.sqrt(points.length / (points.length - 2));
  const slopes = Array.from({ length: RESAMPLES }, () => {
    const drawn = blocks(residuals, length, random);
    return slope + theilSen(xs, drawn) * widening;
  });
  const tail = (1 - level) / 2;
  const [lo, hi] = [quantile(slopes, tail), quantile(slopes, 1 - tail)];
  return { slope, lo, hi, level, at: (x) => offset + slope * x };
}

/** Draws as many values again, in runs of neighbours; the last is followed by the first. */
function blocks(values, length, random) {
  const drawn = [];
  while (drawn.length < values.length) {
    const from = Math.floor(random() * values.length);
    for (let i = 0; i < length; i++) drawn.push(values[(from + i) % values.length]);
  }
  return drawn.slice(0, values.length);
}

function theilSen(xs, ys) {
  const slopes = new Float64Array((xs.length * (xs.length - 1)) / 2);
  let n = 0;
  for (let i = 0; i < xs.length; i++) {
    for (let j = i + 1; j < xs.length; j++) slopes[n++] = (ys[j] - ys[i]) / (xs[j] - xs[i]);
  }
  slopes.sort();
  const half = slopes.length >> 1;
  return slopes.length % 2 === 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
}
