/** How fast a quantity grows, with an interval, where values near each other in time are alike. */
import { randomFrom } from '../../experiment/random.js';
import { median, quantile } from '../../stats/spread.js';

const RESAMPLES = 1000;

/**
 * The median of the slopes between all pairs of points (Theil and Sen), and an interval by a bootstrap that draws the residuals in
 * blocks of neighbours, so that slow swings are not taken for independent values.
 *
 * @param {[number, number][]} points x ascending, 3 or more
 * @param {{ seed: number, level?: number }} options
 * @returns {{ slope: number, lo: number, hi: number, level: number, at: (x: number) => number }} `at` is the line
 */
export function trend(points, { seed, level = 0.95 }) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const slope = theilSen(xs, ys);
  const offset = median(ys.map((y, i) => y - slope * xs[i]));
  const residuals = ys.map((y, i) => y - slope * xs[i] - offset);
  const random = randomFrom(seed);
  const length = Math.max(1, Math.round(points.length ** (1 / 3)));
  // What a fitted line leaves is smaller than what was there: two degrees of freedom went into it.
  const widening = Math.sqrt(points.length / (points.length - 2));
  const slopes = Array.from({ length: RESAMPLES }, () => {
    const drawn = blocks(residuals, length, random);
    return slope + theilSen(xs, drawn) * widening;
  });
  const tail = (1 - level) / 2;
  const [lo, hi] = [quantile(slopes, tail), quantile(slopes, 1 - tail)];
  return { slope, lo, hi, level, at: (x) => offset + slope * x };
}

/** As many values again, in runs of neighbours; the last is followed by the first. */
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
