import { axisX, axisY, gridX, gridY } from '@observablehq/plot';
import { median } from '../../stats/index.js';
import { isNumber } from '../numbers.js';
import { armDots, armLine, extent, logTicks, tickText } from './marks.js';
import { chart, WIDE } from './plot.js';

const TICKS = [
  [1, '0'],
  [2, '50'],
  [10, '90'],
  [100, '99'],
  [1000, '99.9'],
  [10_000, '99.99'],
  [100_000, '99.999'],
];

/**
 * Latency by percentile, both logarithmic: each step to the right is a tenth of the answers before. Of each percentile
 * the median of the rounds; the slowest answer of all has no place on such an axis.
 *
 * @param {string} label
 * @param {{ arm: object, points: [number, number][] }[]} lines as {@link percentilePoints} makes them
 * @param {number} width
 */
export function percentileChart(label, lines, width) {
  const all = lines.flatMap(({ points }) => points);
  const x = [1, Math.max(10, ...all.map(([at]) => at))];
  const y = extent(all.map(([, ms]) => ms));
  const ticks = TICKS.filter(([at]) => at <= x[1]);
  const texts = new Map(ticks);
  return chart(label, {
    ...{ width, height: width === WIDE ? 320 : 260, marginLeft: 46, marginRight: 20 },
    marginBottom: 36,
    x: { type: 'log', domain: x },
    y: { type: 'log', domain: y, nice: false },
    marks: [
      gridX({ ticks: ticks.map(([at]) => at), stroke: 'var(--rule)', strokeOpacity: 1 }),
      gridY({ ticks: logTicks(y), stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({
        ...{ ticks: ticks.map(([at]) => at), text: (at) => texts.get(at), tickSize: 0 },
        ...{ label: 'percentile', labelArrow: 'none', labelAnchor: 'right' },
      }),
      axisY({ ticks: logTicks(y), text: tickText, tickSize: 0, label: null }),
      ...lines.map(({ arm, points }) => armLine(arm, points)),
      ...lines.map(({ arm, points }) => (arm.role === 'twin' ? null : armDots(arm, points))),
    ],
  });
}

/**
 * The percentiles of the runs of one arm.
 *
 * @param {{ percentiles?: [number, number][] | null }[]} runs
 * @returns {[number, number][]} 1 / (1 - share) and ms
 */
export function percentilePoints(runs) {
  const told = runs.map(({ percentiles }) => percentiles ?? []).filter(({ length }) => length > 0);
  const shares = (told[0] ?? []).map(([share]) => share).filter((share) => share < 1);
  return shares
    .map((share) => {
      const values = told
        .map((list) => list.find(([each]) => each === share)?.[1])
        .filter((ms) => isNumber(ms) && ms > 0);
      return [1 / (1 - share), values.length === told.length ? median(values) : null];
    })
    .filter(([, ms]) => ms !== null);
}
