import { areaY, axisX, dot, ruleX, ruleY } from '@observablehq/plot';
import { kde, median } from '../../stats/index.js';
import { isNumber } from '../numbers.js';
import { armLine, extent, tickText } from './marks.js';
import { chart, look, NARROW } from './plot.js';

const POINTS = 160;

/** Ratio of heights from which on a curve can no longer be seen beside the other. */
const FLAT = 8;

/** The height of the ticks of one arm, as a share of that of the curves. */
const RUG = 0.09;

/** Least number of rounds: with fewer a fold of five has one or two of them, and what fits these best is chance. */
export const FEWEST = 10;

/** Seed of the choice of folds: the same rounds give the same page. */
const SEED = 1;

/** A cross-validated bandwidth has a curve of its own from this share of Scott's down; above it the two look the same. */
const NARROW_SHARE = 0.5;

/**
 * Distribution of the rounds of one metric: a curve for each arm, a tick for each round, a line at the median. The bandwidth of the
 * filled curve is by Scott's rule. Where five-fold cross validation chose half of it or less, a thin line is the curve with that: it
 * shows two peaks that the rule smooths into one. An arm whose rounds are all the same has no curve, only the line at the median.
 *
 * @param {string} label
 * @param {{ arm: object, values: (number | null)[] }[]} samples
 * @returns {Drawn | null} null when there is no value
 *
 * @typedef {object} Drawn
 * @property {ReturnType<typeof import('../escape.js').html>} drawing
 * @property {boolean} isScaled each arm has a height of its own, as one of the curves would be too flat to be seen
 * @property {Bandwidths[]} bandwidths of the arms that have a curve, but the twin
 *
 * @typedef {object} Bandwidths in the unit of the metric
 * @property {object} arm
 * @property {number} scott
 * @property {number | null} crossValidated null with fewer than {@link FEWEST} rounds, and when the best of the bandwidths that were
 *   tried was the smallest or the largest: values repeat, or lie far from all others
 * @property {boolean} isTried cross validation was tried: there were rounds enough
 */
export function density(label, samples) {
  const told = samples
    .map(({ arm, values }) => ({ arm, values: values.filter(isNumber) }))
    .filter(({ values }) => values.length > 0)
    .map(withCurves);
  if (told.length === 0) return null;
  const peaks = told.map(({ curve }) => peakOf(curve)).filter((peak) => peak > 0);
  const isScaled = Math.max(...peaks) > FLAT * Math.min(...peaks);
  const arms = isScaled ? told.map(scaled) : told;
  const peak = Math.max(0, ...arms.map(({ curve, thin }) => peakOf([...curve, ...thin]))) || 1;
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
      ...arms.flatMap(({ arm, thin }) => thinMarks(arm, thin)),
      ruleY([0], { stroke: 'var(--rule)' }),
      ...rows.flatMap(({ arm, values }, i) => rugMarks(arm, values, -rug * (i + 1), rug)),
      ...rows.flatMap(({ arm, curve, middle }) =>
        medianMarks(arm, middle, heightAt(curve, middle, peak)),
      ),
    ],
  });
  const bandwidths = rows
    .filter(({ curve }) => curve.length > 0)
    .map(({ arm, scott, crossValidated, isTried }) => ({ arm, scott, crossValidated, isTried }));
  return { drawing, isScaled, bandwidths };
}

/** The twin shows what chance does to the curve of the control; a thin line of its own would only be in the way. */
function withCurves({ arm, values }) {
  const byRule = kde(values, { bandwidth: 'scott', points: POINTS });
  const isTried = arm.role !== 'twin' && values.length >= FEWEST && byRule.point === null;
  const rule = { bandwidth: 'cross-validated', seed: SEED, points: POINTS };
  const found = isTried ? kde(values, rule) : null;
  const isFound = found !== null && !found.atEdge;
  const isNarrow = isFound && found.bandwidth <= NARROW_SHARE * byRule.bandwidth;
  return {
    ...{ arm, values, middle: median(values), isTried },
    scott: byRule.bandwidth,
    crossValidated: isFound ? found.bandwidth : null,
    curve: pointsOf(byRule, values),
    thin: isNarrow ? pointsOf(found, values) : [],
  };
}

const peakOf = (curve) => curve.reduce((most, [, y]) => Math.max(most, y), 0);

/** The thin line keeps its height beside the curve of its arm. */
function scaled({ curve, thin, ...rest }) {
  const peak = peakOf(curve);
  const [low, fine] = [curve, thin].map((points) => points.map(([x, y]) => [x, y / peak]));
  return { ...rest, curve: low, thin: fine };
}

/** Points of a curve, without the part below 0 where no value is there: it would mislead. */
function pointsOf({ x, density: heights }, values) {
  const isPositive = values.every((value) => value >= 0);
  return x.map((at, i) => [at, heights[i]]).filter(([at]) => at >= 0 || !isPositive);
}

function curveMarks(arm, curve) {
  if (curve.length === 0) return [];
  if (arm.role === 'twin') return [armLine(arm, curve)];
  const area = areaY(curve, { x: '0', y: '1', fill: look(arm).colour, fillOpacity: 0.12 });
  return [area, armLine(arm, curve)];
}

const thinMarks = (arm, thin) =>
  thin.length === 0 ? [] : [armLine(arm, thin, { strokeWidth: 1, strokeDasharray: null })];

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

/** Height of the curve at a point; all of the chart where there is none. */
function heightAt(curve, at, peak) {
  if (curve.length === 0) return peak;
  return curve.reduce((near, each) =>
    Math.abs(each[0] - at) < Math.abs(near[0] - at) ? each : near,
  )[1];
}
