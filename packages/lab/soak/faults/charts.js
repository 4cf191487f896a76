import { axisX, axisY, dot, gridY, line, ruleX } from '@observablehq/plot';
import { legend } from '../../report/charts/legend.js';
import { armDots, armLine, extent, tickText } from '../../report/charts/marks.js';
import { chart, WIDE } from '../../report/charts/plot.js';

const STYLES = ['arm-1', 'arm-2', 'arm-3', 'arm-4', 'arm-5', 'control'];

/** What a line is to the marks of reports. */
const lineOf = (title, i) => ({
  title,
  style: STYLES[i % STYLES.length],
  role: 'treatment',
});

export const legendOf = (titles) => legend(titles.map(lineOf));

/**
 * Lines over the minutes of the soak; what is left of the dotted line came before the judgement.
 *
 * @param {string} label
 * @param {{ title: string, points: [number, number][], hasDots?: boolean }[]} lines
 * @param {object} options
 * @param {number} options.width
 * @param {number} options.warmUpS
 * @param {boolean} [options.isFromZero]
 */
export function timeChart(label, lines, { width, warmUpS, isFromZero = false }) {
  const drawn = lines.map(({ title, points, hasDots }, i) => ({
    ...{ arm: lineOf(title, i), hasDots },
    points: points.map(([seconds, value]) => [seconds / 60, value]),
  }));
  const all = drawn.flatMap(({ points }) => points);
  const [least, most] = extent(all.map(([, value]) => value));
  const around = (most - least) * 0.1;
  const domain = isFromZero ? [0, most * 1.05] : [Math.max(0, least - around), most + around];
  return chart(label, {
    ...{ width, height: width === WIDE ? 260 : 210, marginLeft: 48, marginRight: 16 },
    marginBottom: 34,
    x: { domain: [0, Math.max(...all.map(([minutes]) => minutes))] },
    y: { domain },
    marks: [
      gridY({ ticks: 5, stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({ ticks: width === WIDE ? 10 : 5, tickSize: 4, label: 'minutes' }),
      axisY({ ticks: 5, tickSize: 0, tickFormat: tickText, label: null }),
      ruleX([warmUpS / 60], { stroke: 'var(--soft)', strokeDasharray: '2,3' }),
      ...drawn.map(({ arm, points }) => armLine(arm, points, { curve: 'linear' })),
      ...drawn
        .filter(({ hasDots }) => hasDots)
        .map(({ arm, points }) => armDots(arm, points, { r: 2 })),
    ],
  });
}

/** How long it took until the service was whole again: a dot for each fault, a row for each kind. */
export function recoveryChart(label, faults, width) {
  const titles = [...new Set(faults.map(({ title }) => title))];
  const row = new Map(titles.map((title, i) => [title, i]));
  const dots = faults
    .filter(({ wholeAfterS }) => wholeAfterS !== null)
    .map(({ title, wholeAfterS }) => ({ y: row.get(title), x: wholeAfterS, title }));
  return chart(label, {
    ...{ width, height: 40 + 30 * titles.length, marginLeft: 150, marginRight: 16 },
    marginBottom: 34,
    x: { domain: [0, Math.max(1, ...dots.map(({ x }) => x)) * 1.05] },
    y: { domain: [titles.length - 0.5, -0.5] },
    marks: [
      line([], {}),
      axisX({ ticks: 6, tickSize: 4, label: 'seconds' }),
      axisY({
        ...{ ticks: titles.map((_, i) => i), tickSize: 0, label: null },
        tickFormat: (i) => titles[i],
      }),
      dot(dots, { x: 'x', y: 'y', r: 3.5, stroke: 'var(--arm-1)', fill: 'var(--paper)' }),
    ],
  });
}
