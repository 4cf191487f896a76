import { axisX, dot, line, ruleX, ruleY, text } from '@observablehq/plot';
import { isNumber } from '../numbers.js';
import { groupBy } from '../select.js';
import { logTicks, tickText } from './marks.js';
import { chart, look, WIDE } from './plot.js';

/** An interval is cut at this many times: beyond it says no more. */
const WIDEST = 50;

const LINE = 17;
const LABEL = 16;

const MOST_CHARACTERS = { wide: 34, narrow: 46 };

/** A character of a label, at most; and the space beside it. */
const CHARACTER = 6.6;
const GAP = 18;

/**
 * Chart of gains with their intervals, a row for each label: of all metrics, or of one metric in all cases. Right
 * of the line at 1 is better. A short upright line is what was claimed.
 *
 * @param {string} label
 * @param {{ label: string, arms: { arm: object, ahead: number | null, lo: number | null, hi: number | null,
 *   claimed: number | null }[] }[]} rows
 * @param {number} width
 * @param {boolean} isJoined whether one row leads to the next, as cases do
 */
export function gainChart(label, rows, width, isJoined) {
  const isWide = width === WIDE;
  const longest = Math.min(MOST_CHARACTERS.wide, Math.max(...rows.map((row) => row.label.length)));
  const marginLeft = isWide ? Math.round(longest * CHARACTER) + GAP : 10;
  const perRow = Math.max(1, ...rows.map(({ arms }) => arms.length));
  const height = (isWide ? 10 : 6 + LABEL) + LINE * perRow;
  const points = rows.flatMap(({ arms }, row) =>
    arms.map((each, i) => ({
      ...each,
      y: row * height + (isWide ? 5 : 3 + LABEL) + LINE * (i + 0.5),
    })),
  );
  const known = points.filter(({ ahead }) => isNumber(ahead)).map(clipped);
  const domain = domainOf(known);
  const bottom = rows.length * height;
  // A label above its row stands between the lines, not on them.
  const bands = isWide
    ? [[0, bottom]]
    : rows.map((_, i) => [i * height + LABEL + 4, (i + 1) * height]);
  const uprights = (values, style) =>
    ruleX(
      values.flatMap((x) => bands.map(([y1, y2]) => ({ x, y1, y2 }))),
      { x: 'x', y1: 'y1', y2: 'y2', ...style },
    );
  const labels = rows.map((row, i) => ({
    text: shortened(row.label, isWide ? MOST_CHARACTERS.wide : MOST_CHARACTERS.narrow),
    full: row.label,
    y: i * height + (isWide ? height / 2 : 4 + LABEL / 2),
  }));
  return chart(label, {
    ...{ width, height: bottom + 40, marginTop: 8, marginBottom: 32 },
    ...{ marginLeft, marginRight: 24 },
    x: { type: 'log', domain },
    y: { domain: [bottom, 0], axis: null },
    marks: [
      uprights(logTicks(domain), { stroke: 'var(--rule)' }),
      axisX({
        ticks: logTicks(domain),
        text: (x) => `${tickText(x)}×`,
        tickSize: 0,
        label: null,
      }),
      uprights([1], { stroke: 'var(--ink)', strokeWidth: 1.25 }),
      text(labels, {
        ...{
          text: 'text',
          title: 'full',
          y: 'y',
          frameAnchor: 'left',
          dx: isWide ? -marginLeft : 2,
        },
        ...{ textAnchor: 'start', fill: 'var(--ink)' },
      }),
      ruleX(
        points.filter(({ claimed }) => isNumber(claimed) && claimed > 0),
        {
          x: 'claimed',
          y1: ({ y }) => y - 7,
          y2: ({ y }) => y + 7,
          stroke: 'var(--ink)',
          strokeWidth: 2,
        },
      ),
      ...[...groupBy(known, ({ arm }) => arm.style).values()].flatMap((list) =>
        armMarks(list[0].arm, list, isJoined),
      ),
    ],
  });
}

/** Bars, marks and, from case to case, the line of one arm. */
function armMarks(arm, points, isJoined) {
  const { colour, symbol, line: dashed } = look(arm);
  const at = { x: 'ahead', y: 'y' };
  const { strokeDasharray } = dashed;
  const intervals = points.filter(({ lo, hi }) => lo !== null && hi !== null);
  return [
    isJoined ? line(points, { ...at, stroke: colour, strokeOpacity: 0.35, strokeDasharray }) : null,
    ruleY(intervals, { y: 'y', x1: 'lo', x2: 'hi', stroke: colour, strokeWidth: 2.5 }),
    dot(points, { ...at, symbol, r: 4.5, fill: colour, stroke: 'var(--paper)' }),
  ];
}

function clipped({ ahead, lo, hi, ...point }) {
  const clip = (value) =>
    isNumber(value) ? Math.min(WIDEST * ahead, Math.max(ahead / WIDEST, value)) : null;
  return { ...point, ahead, lo: clip(lo), hi: clip(hi) };
}

/** Domain of the axis, at least from 0.9 to 1.2, so that a difference of nothing does not fill the chart. */
function domainOf(points) {
  const all = points.flatMap(({ ahead, lo, hi, claimed }) => [ahead, lo, hi, claimed]);
  const numbers = all.filter((value) => isNumber(value) && value > 0);
  return [Math.min(0.9, ...numbers) / 1.03, Math.max(1.2, ...numbers) * 1.03];
}

const shortened = (label, most) => (label.length <= most ? label : `${label.slice(0, most - 1)}…`);
