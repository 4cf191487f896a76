import { areaY, axisX, dot, ruleX, ruleY } from '@observablehq/plot';
import { kde, median } from '../../stats/index.js';
import { isNumber } from '../numbers.js';
import { armLine, extent, tickText } from './marks.js';
import { chart, look, NARROW } from './plot.js';

const POINTS = 160;

/** When this many times as flat, a curve can no longer be seen beside the other. */
const FLAT = 8;

/** The height of the ticks of one arm, as a share of that of the curves. */
const RUG = 0.09;

/**
 * How the rounds of one metric lie: a curve for each arm, a tick for each round, a line at the median. Where all
 * rounds of an arm are the same there is no curve, and the line alone stands there.
 *
 * @param {string} label
 * @param {{ arm: object, values: (number | null)[] }[]} samples
 * @returns {{ drawing: import('../escape.js').Html, isScaled: boolean } | null} `isScaled` when each curve has a height of
 *   its own, as one of them would be too flat to be seen; null when there is no value
 */
export function density(label, samples) {
  const told = samples
    .map(({ arm, values }) => ({ arm, values: values.filter(isNumber) }))
    .filter(({ values }) => values.length > 0)
    .map(({ arm, values }) => ({ arm, values, curve: curveOf(values), middle: median(values) }));
  if (told.length === 0) return null;
  const peaks = told.map(({ curve }) => peakOf(curve)).filter((peak) => peak > 0);
  const isScaled = Math.max(...peaks) > FLAT * Math.min(...peaks);
  const arms = isScaled ? told.map((each) => ({ ...each, curve: scaled(each.curve) })) : told;
  const peak = Math.max(0, ...arms.map(({ curve }) => peakOf(curve))) || 1;
  const rows = arms.filter(({ arm }) => arm.role !== 'twin');
  const rug = peak * RUG;
  const drawing = chart(label, {
    ...{ width: NARROW, height: 150 + 14 * rows.length, marginLeft: 12, marginRight: 12 },
    ...{ marginBottom: 24, insetLeft: 2, insetRight: 2 },
    x: {
      domain: extent(arms.flatMap(({ values, curve }) => [...values, ...curve.map(([x]) => x)])),
    },
    y: { domain: [-rug * (rows.length + 0.5), peak * 1.04], axis: null },
    marks: [
      axisX({ ticks: 5, tickFormat: tickText, tickSize: 4, label: null }),
      ...arms.flatMap(({ arm, curve }) => curveMarks(arm, curve)),
      ruleY([0], { stroke: 'var(--rule)' }),
      ...rows.flatMap(({ arm, values }, i) => rugMarks(arm, values, -rug * (i + 1), rug)),
      ...rows.flatMap(({ arm, curve, middle }) =>
        medianMarks(arm, middle, heightAt(curve, middle, peak)),
      ),
    ],
  });
  return { drawing, isScaled };
}

const peakOf = (curve) => curve.reduce((most, [, y]) => Math.max(most, y), 0);

function scaled(curve) {
  const peak = peakOf(curve);
  return curve.map(([x, y]) => [x, y / peak]);
}

function curveOf(values) {
  const { x, density: heights } = kde(values, { points: POINTS });
  const isPositive = values.every((value) => value >= 0);
  return x.map((at, i) => [at, heights[i]]).filter(([at]) => at >= 0 || !isPositive);
}

function curveMarks(arm, curve) {
  if (curve.length === 0) return [];
  if (arm.role === 'twin') return [armLine(arm, curve)];
  const area = areaY(curve, { x: '0', y: '1', fill: look(arm).colour, fillOpacity: 0.12 });
  return [area, armLine(arm, curve)];
}

const rugMarks = (arm, values, bottom, height) => [
  ruleX(values, {
    ...{ x: (value) => value, y1: bottom, y2: bottom + height * 0.7 },
    ...{ stroke: look(arm).colour, strokeOpacity: 0.75 },
  }),
];

function medianMarks(arm, middle, height) {
  const { colour, symbol, line } = look(arm);
  const fill = arm.role === 'treatment' ? colour : 'var(--paper)';
  return [
    ruleX([middle], { y1: 0, y2: height, stroke: colour, strokeDasharray: line.strokeDasharray }),
    dot([[middle, height]], { x: '0', y: '1', symbol, r: 3.5, stroke: colour, fill }),
  ];
}

/** Of the curve at a point; all of the chart where there is none. */
function heightAt(curve, at, peak) {
  if (curve.length === 0) return peak;
  return curve.reduce((near, each) =>
    Math.abs(each[0] - at) < Math.abs(near[0] - at) ? each : near,
  )[1];
}
