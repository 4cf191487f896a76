import { axisX, axisY, gridY, link } from '@observablehq/plot';
import { isNumber } from '../numbers.js';
import { armDots, extent, tickText } from './marks.js';
import { chart, WIDE } from './plot.js';

/**
 * Chart of a metric round by round, in the order in which they were measured: the arms of a round stand above each other, joined by a line. Lines
 * that lead the same way in all rounds are a difference; points that drift together are the machine.
 *
 * @param {string} label
 * @param {{ arm: object, values: (number | null)[] }[]} arms control first, one value a round
 * @param {number} width
 * @returns {ReturnType<typeof import('../escape.js').html> | null} null when there are less than two rounds to show
 */
export function roundsChart(label, arms, width) {
  const rounds = Math.max(0, ...arms.map(({ values }) => values.length));
  const points = arms.map(({ arm, values }) => ({
    arm,
    points: values.map((value, i) => [i + 1, value]).filter(([, value]) => isNumber(value)),
  }));
  const all = points.flatMap((each) => each.points.map(([, value]) => value));
  if (rounds < 2 || all.length === 0) return null;
  const joins = Array.from({ length: rounds }, (_, i) => {
    const values = arms.map((each) => each.values[i]).filter(isNumber);
    return { x: i + 1, from: Math.min(...values), to: Math.max(...values), n: values.length };
  }).filter(({ n }) => n > 1);
  const [least, most] = extent(all);
  const around = (most - least) * 0.06;
  const r = rounds > 30 && width !== WIDE ? 2.5 : 3.5;
  return chart(label, {
    ...{ width, height: width === WIDE ? 240 : 200, marginLeft: 46, marginRight: 14 },
    marginBottom: 34,
    x: { domain: [1 - 0.4, rounds + 0.4] },
    y: { domain: [least - around, most + around] },
    marks: [
      gridY({ ticks: 4, stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({
        ...{ ticks: ticksOf(rounds), tickFormat: String, tickSize: 0 },
        ...{ label: 'round', labelArrow: 'none', labelAnchor: 'right' },
      }),
      axisY({ ticks: 4, tickSize: 0, tickFormat: tickText, label: null }),
      link(joins, {
        ...{ x1: 'x', x2: 'x', y1: 'from', y2: 'to' },
        ...{ stroke: 'var(--twin)', strokeOpacity: 0.7, strokeWidth: 1.5 },
      }),
      ...points.map((each) => armDots(each.arm, each.points, { r })),
    ],
  });
}

/** Ticks at whole rounds, ten at most. */
function ticksOf(rounds) {
  const step = [1, 2, 5, 10, 20, 50, 100].find((each) => rounds / each <= 10) ?? 200;
  return Array.from({ length: rounds }, (_, i) => i + 1).filter(
    (round) => round === 1 || round % step === 0,
  );
}
