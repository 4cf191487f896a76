/** The shares of a plot of percentiles; a share is left out where fewer than one answer lies above it. */
const SHARES = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999];

/** Series have a point for each quarter of a second. */
const POINT_S = 0.25;

/**
 * @param {number[]} values ms
 * @returns {{ n: number, p50: number, p90: number, p99: number, p999: number, max: number, mean: number }} zeros
 *   where there is no value
 */
export function latencySummary(values) {
  const sorted = sort(values);
  const at = (share) => rank(sorted, share) ?? 0;
  return {
    n: sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999),
    max: at(1),
    mean: mean(values),
  };
}

/**
 * The points of a plot of percentiles.
 *
 * @param {number[]} values ms
 * @returns {[share: number, ms: number][] | null} null without a value
 */
export function percentilePoints(values) {
  if (values.length === 0) return null;
  const sorted = sort(values);
  const told = SHARES.filter((share) => share <= 0.5 || (1 - share) * sorted.length >= 1 - 1e-9);
  return [...told, 1].map((share) => [share, rank(sorted, share)]);
}

/**
 * Answers over time: how many a second, and the 99th percentile of their latency, for each quarter of a second.
 * The last part of a quarter that is not whole is left out.
 *
 * @param {number[]} times of their arrival, ms after the start
 * @param {number[]} latencies ms, in the same order
 * @param {number} seconds of the window
 * @returns {{ answers_per_s: [number, number][], latency_p99_ms: [number, number][] }} each point at the end of its
 *   quarter; a quarter without an answer has no latency
 */
export function latencySeries(times, latencies, seconds) {
  const count = Math.floor(seconds / POINT_S + 1e-9);
  const quarters = Array.from({ length: count }, () => []);
  times.forEach((ms, i) => {
    quarters[Math.floor(ms / 1000 / POINT_S)]?.push(latencies[i]);
  });
  const at = (i) => (i + 1) * POINT_S;
  return {
    answers_per_s: quarters.map((each, i) => [at(i), each.length / POINT_S]),
    latency_p99_ms: quarters
      .map((each, i) => [at(i), rank(sort(each), 0.99)])
      .filter(([, ms]) => ms !== undefined),
  };
}

const sort = (values) => Float64Array.from(values).sort();
const rank = (sorted, share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
const mean = (values) =>
  values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
