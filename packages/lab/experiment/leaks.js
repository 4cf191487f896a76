/** Detects servers that grow while they are measured. */
import { median } from '../stats/index.js';

/** A rise is told when it is this much of the memory in use, and this many bytes a second. */
const LEAST_SHARE = 0.1;
const LEAST_BYTES_PER_S = 1e6;

/** Points and seconds from which on a slope says something. */
const LEAST_POINTS = 4;

/**
 * A sentence for each arm whose resident memory rose, from the first to the last sample of the measured window, in most of
 * its runs. It may be a leak, a cache that fills or a heap that has not been collected yet; the runs are too short to tell.
 *
 * @param {Pick<import('./record.js').Sample, 'arm' | 'role' | 'costs'>[]} runs
 * @returns {string[]}
 */
export function leakNotes(runs) {
  const arms = new Map();
  for (const { role, arm, costs } of runs) {
    if (role === 'twin') continue;
    const found = rise(costs?.series?.rss_bytes ?? []);
    if (found !== null) arms.set(arm, [...(arms.get(arm) ?? []), found]);
  }
  return [...arms].flatMap(([arm, rises]) => {
    const bytesPerS = median(rises.map((each) => each.bytesPerS));
    const share = median(rises.map((each) => each.share));
    if (share < LEAST_SHARE || bytesPerS < LEAST_BYTES_PER_S) return [];
    return [
      `Memory of ${arm} rose by ${(bytesPerS / 1e6).toFixed(1)} MB/s while it was measured, by ` +
        `${Math.round(share * 100)} % in a run: a leak, a cache that fills, or garbage not collected yet.`,
    ];
  });
}

/** The slope of the least squares, and by which share of its start the line rises. */
function rise(series) {
  if (series.length < LEAST_POINTS) return null;
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const [atS, bytes] = [mean(series.map(([s]) => s)), mean(series.map(([, value]) => value))];
  const spread = series.reduce((sum, [s]) => sum + (s - atS) ** 2, 0);
  if (spread === 0) return null;
  const bytesPerS =
    series.reduce((sum, [s, value]) => sum + (s - atS) * (value - bytes), 0) / spread;
  const start = bytes + bytesPerS * (series[0][0] - atS);
  return { bytesPerS, share: (bytesPerS * (series.at(-1)[0] - series[0][0])) / Math.max(start, 1) };
}
