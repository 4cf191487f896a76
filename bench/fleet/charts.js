import { armDots, armLine, chart, extent, logTicks, tickText, WIDE } from '@millrace/lab/report';
import { axisX, axisY, gridX, gridY, ruleX, ruleY, text } from '@observablehq/plot';

/** The looks of lines, in the order in which they are given out. */
const STYLES = ['arm-1', 'arm-2', 'arm-3', 'arm-4', 'arm-5', 'control'];
const BAR = 18;
const LABELS = 130;

/** Line of a chart, for the marks of reports. */
export const lineOf = (title, i) => ({ title, style: STYLES[i], role: 'treatment' });

/**
 * Lines over connections, both logarithmic.
 *
 * @param {string} label
 * @param {{ arm: object, points: [number, number][] }[]} lines
 * @param {number} width
 */
export function sizeChart(label, lines, width) {
  const all = lines.flatMap(({ points }) => points);
  const x = extent(all.map(([connections]) => connections));
  const y = extent(all.map(([, value]) => value));
  return chart(label, {
    ...{ width, height: width === WIDE ? 320 : 240, marginLeft: 52, marginRight: 20 },
    marginBottom: 36,
    x: { type: 'log', domain: x },
    y: { type: 'log', domain: y },
    marks: [
      gridX({ ticks: logTicks(x), stroke: 'var(--rule)', strokeOpacity: 1 }),
      gridY({ ticks: logTicks(y), stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({ ticks: logTicks(x), text: tickText, tickSize: 0, label: 'connections' }),
      axisY({ ticks: logTicks(y), text: tickText, tickSize: 0, label: null }),
      ...lines.map(({ arm, points }) => armLine(arm, points, { curve: 'linear' })),
      ...lines.map(({ arm, points }) => armDots(arm, points)),
    ],
  });
}

/**
 * Chart of how much the cost moves when an input is halved or doubled: a bar each, the widest on top.
 *
 * @param {string} label
 * @param {ReturnType<typeof import('./sensitivity.js').sensitivity>} rows
 * @param {number} width
 */
export function tornado(label, rows, width) {
  const bars = rows.map(({ name, less, more }, i) => ({
    ...{ name, y: (i + 0.5) * BAR },
    ends: [
      ['less', less.cost],
      ['more', more.cost],
    ].filter(([, ratio]) => ratio !== null),
  }));
  const ratios = bars.flatMap(({ ends }) => ends.map(([, ratio]) => ratio));
  const domain = [Math.min(0.9, ...ratios), Math.max(1.1, ...ratios)];
  const ends = (which) =>
    bars.flatMap(({ y, ends: both }) =>
      both.filter(([side]) => side === which).map(([, ratio]) => ({ y, ratio })),
    );
  const bar = (which, stroke) =>
    ruleY(ends(which), { y: 'y', x1: () => 1, x2: 'ratio', stroke, strokeWidth: BAR - 8 });
  const bottom = bars.length * BAR;
  return chart(label, {
    ...{ width, height: bottom + 40, marginTop: 8, marginBottom: 32, marginLeft: LABELS },
    marginRight: 24,
    x: { type: 'log', domain },
    y: { domain: [bottom, 0], axis: null },
    marks: [
      gridX({ ticks: logTicks(domain), stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({ ticks: logTicks(domain), text: (x) => `${tickText(x)}×`, tickSize: 0, label: null }),
      bar('less', 'var(--arm-1)'),
      bar('more', 'var(--arm-2)'),
      ruleX([1], { stroke: 'var(--ink)', strokeWidth: 1.25 }),
      text(bars, {
        ...{ text: 'name', y: 'y', frameAnchor: 'left', dx: -LABELS + 4 },
        ...{ textAnchor: 'start', fill: 'var(--ink)' },
      }),
    ],
  });
}
