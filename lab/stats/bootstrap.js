import { randomFrom } from '../experiment/random.js';
import { normalCdf, normalQuantile } from './normal.js';
import { checkSeed, checkShare, checkWhole, isConstant, pairs, sample } from './samples.js';
import { mean, quantileOf } from './spread.js';

/**
 * The bootstrap interval of any statistic: the samples are drawn again and again from themselves, and the interval is
 * where the statistic of these lies, bias-corrected and accelerated (BCa; Efron, "Better bootstrap confidence
 * intervals", 1987). Of few values it covers the truth less often than it says: the 95 % interval of a difference of
 * means in 87 % of simulated experiments with 5 normal values an arm, in 92 % with 10, 93 % with 20 and 94 % with 50;
 * of the mean of a long-tailed distribution, less. The interval of a shift by ranks keeps its word at any size.
 *
 * @param {ArrayLike<number>[]} samples one, or control and treatment
 * @param {(...samples: Float64Array[]) => number} statistic of as many samples; called once for each resample and for
 *   each value left out
 * @param {object} options
 * @param {number} options.seed of the drawing, a whole number from 0 to 2^32 - 1: the same again gives the same
 *   interval
 * @param {boolean} [options.isPaired] values with the same index belong together and are drawn together; default
 *   false
 * @param {number} [options.level] of the interval, above 0 and below 1; default 0.95
 * @param {number} [options.resamples] 100 to 1 million; default 10,000
 * @returns {BootstrapInterval} in the unit of the statistic; cost: resamples · (values + a call of the statistic)
 * @throws {TypeError} for anything but numbers, and for no function
 * @throws {RangeError} for an empty sample, what is not finite, options out of range, samples that are no pairs, and
 *   a statistic that gives no finite number
 *
 * @typedef {object} BootstrapInterval
 * @property {number} estimate the statistic of the samples as they are
 * @property {number} lo
 * @property {number} hi
 * @property {number} level as asked for
 * @property {'bca' | 'percentile' | 'point'} method `percentile` where BCa does not exist; `point` where there is no
 *   interval at all: `lo` and `hi` are then the estimate, which is not to say that it is certain
 * @property {string | null} reason of another method than `bca`
 */
export function bootstrap(
  samples,
  statistic,
  { seed, isPaired = false, level = 0.95, resamples = 10_000 } = {},
) {
  const all = checked(samples, statistic, isPaired);
  checkSeed(seed);
  checkShare('level', level);
  checkWhole('resamples', resamples, 100, 1e6);
  const of = (some, what) => finite(statistic(...some), what);
  const estimate = of(all, 'the samples');
  const found = (lo, hi, method, reason) => ({ estimate, lo, hi, level, method, reason });
  const point = (reason) => found(estimate, estimate, 'point', reason);

  if (all.some(({ length }) => length < 2)) return point('a sample of one value');
  if (all.every(isConstant)) return point('all values of a sample are the same');
  const drawn = drawing(all, randomFrom(seed), isPaired);
  const replicates = Float64Array.from({ length: resamples }, (_, i) => of(drawn(), `draw ${i}`));
  replicates.sort();
  if (isConstant(replicates)) return point('the statistic is the same in every draw');

  const limits = (tails) => tails.map((tail) => quantileOf(replicates, tail));
  const tails = [(1 - level) / 2, (1 + level) / 2];
  const corrected = correct(tails, biasOf(replicates, estimate), accelerationOf(all, of, isPaired));
  return Array.isArray(corrected)
    ? found(...limits(corrected), 'bca', null)
    : found(...limits(tails), 'percentile', corrected);
}

function checked(samples, statistic, isPaired) {
  if (!Array.isArray(samples) || samples.length < 1 || samples.length > 2) {
    throw new TypeError('samples: must be an array of one or two samples, as in [values]');
  }
  if (typeof statistic !== 'function') {
    throw new TypeError(`statistic is of type ${typeof statistic}: must be a function`);
  }
  if (!isPaired) return samples.map((values, i) => sample(`samples[${i}]`, values));
  if (samples.length !== 2) throw new RangeError('isPaired with one sample: must be two');
  return pairs(...samples);
}

function finite(value, what) {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new RangeError(`the statistic of ${what} is ${value}: must be a finite number`);
}

/** The same arrays are filled each time. */
function drawing(samples, random, isPaired) {
  const draws = samples.map(({ length }) => new Float64Array(length));
  const index = ({ length }) => Math.floor(random() * length);
  return () => {
    for (let at = 0; isPaired && at < draws[0].length; at += 1) {
      const from = index(draws[0]);
      for (let each = 0; each < draws.length; each += 1) draws[each][at] = samples[each][from];
    }
    for (let each = 0; !isPaired && each < draws.length; each += 1) {
      const [draw, values] = [draws[each], samples[each]];
      for (let at = 0; at < draw.length; at += 1) draw[at] = values[index(values)];
    }
    return draws;
  };
}

/** By how many deviations the draws lie to one side of the estimate; a draw that equals it lies half on either. */
function biasOf(replicates, estimate) {
  const below = replicates.reduce((sum, each) => sum + sideOf(each, estimate), 0);
  return normalQuantile(below / replicates.length);
}

const sideOf = (value, estimate) => (value === estimate ? 0.5 : Number(value < estimate));

/** How the spread of the statistic changes with its value, from what it is when one value is left out. */
function accelerationOf(samples, of, isPaired) {
  let cubes = 0;
  let squares = 0;
  for (const influences of isPaired
    ? [leftOut(samples, samples, of)]
    : samples.map((one) => leftOut(samples, [one], of))) {
    const n = influences.length;
    cubes += influences.reduce((sum, each) => sum + each ** 3, 0) / n ** 3;
    squares += influences.reduce((sum, each) => sum + each ** 2, 0) / n ** 2;
  }
  return cubes / (6 * squares ** 1.5);
}

/** What each value adds to the statistic; `from` are the samples that lose it, all of them where they are paired. */
function leftOut(samples, from, of) {
  const n = from[0].length;
  const without = Array.from({ length: n }, (_, i) => {
    const rest = (one) => (from.includes(one) ? one.filter((_, at) => at !== i) : one);
    return of(samples.map(rest), `the samples without value ${i}`);
  });
  const center = mean(without);
  return without.map((each) => (n - 1) * (center - each));
}

/** The shares of the draws that are the limits, or the reason why there are none. */
function correct(tails, bias, acceleration) {
  if (!Number.isFinite(bias)) return 'no BCa: all draws lie on one side of the estimate';
  if (!Number.isFinite(acceleration)) return 'no BCa: the statistic depends on no single value';
  const shifts = tails.map((tail) => bias + normalQuantile(tail));
  if (shifts.some((shift) => acceleration * shift >= 1))
    return 'no BCa: the acceleration is too great';
  return shifts.map((shift) => normalCdf(bias + shift / (1 - acceleration * shift)));
}
