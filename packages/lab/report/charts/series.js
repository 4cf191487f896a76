import { axisX, axisY, gridY } from '@observablehq/plot';
import { armLine, tickText } from './marks.js';
import { chart, NARROW } from './plot.js';

/**
 * A quantity over the seconds of a run, from 0 up.
 *
 * @param {string} label
 * @param {{ arm: object, points: [number, number][] }[]} lines
 */
export function seriesChart(label, lines) {
  const all = lines.flatMap(({ points }) => points);
  const most = Math.max(...all.map(([, value]) => value), 0) || 1;
  const least = Math.min(...all.map(([, value]) => value), 0);
  const last = Math.max(...all.map(([seconds]) => seconds), 0) || 1;
  return chart(label, {
    ...{ width: NARROW, height: 150, marginLeft: 46, marginRight: 12, marginBottom: 24 },
    x: { domain: [0, last] },
    y: { domain: [least, most * 1.05] },
    marks: [
      gridY({ ticks: 4, stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({
        ticks: 5,
        tickSize: 4,
        tickFormat: (seconds) => `${tickText(seconds)} s`,
        label: null,
      }),
      axisY({ ticks: 4, tickSize: 0, tickFormat: tickText, label: null }),
      ...lines.map(({ arm, points }) => armLine(arm, points, { curve: 'linear' })),
    ],
  });
}
