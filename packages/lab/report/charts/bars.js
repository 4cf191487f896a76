import { rect, ruleX, ruleY, text } from '@observablehq/plot';
import { isNumber, quantity } from '../numbers.js';
import { chart, look, WIDE } from './plot.js';

const ROW = 34;
const MOST_CHARACTERS = 16;
const CHARACTER = 6.8;
const VALUE_WIDTH = 64;

/**
 * A bar for each arm from 0 to its median, a line over it for its interval, and its value at the right edge.
 *
 * @param {string} label
 * @param {ReturnType<typeof import('../intervals.js').armIntervals>} arms
 * @param {number} width
 */
export function barChart(label, arms, width) {
  const longest = Math.max(...arms.map(({ arm }) => shortened(arm.title).length));
  const ends = arms.flatMap(({ value, hi }) => [value, hi]).filter(isNumber);
  const rows = arms.map((each, i) => ({
    ...each,
    ...{ y: i, y1: i - 0.32, y2: i + 0.32, fill: look(each.arm).colour },
    ...{ name: shortened(each.arm.title), shown: quantity(each.value) },
  }));
  const intervals = rows.filter(({ lo, hi }) => lo !== null && hi !== null);
  const marginLeft = Math.round(longest * CHARACTER) + 14;
  const ticks = intervals.flatMap(({ y, lo, hi }) => [lo, hi].map((x) => ({ x, y })));
  const atEdge = { y: 'y', fill: 'var(--ink)' };
  return chart(label, {
    ...{ width, height: ROW * arms.length + 8, marginTop: 4, marginBottom: 4, marginLeft },
    marginRight: VALUE_WIDTH,
    x: { domain: [Math.min(0, ...ends), Math.max(0, ...ends) || 1], axis: null },
    y: { domain: [arms.length - 0.5, -0.5], axis: null },
    color: { type: 'identity' },
    marks: [
      rect(rows, { x1: 0, x2: 'value', y1: 'y1', y2: 'y2', fill: 'fill', fillOpacity: 0.55 }),
      ruleY(intervals, { y: 'y', x1: 'lo', x2: 'hi', stroke: 'var(--ink)', strokeWidth: 1.5 }),
      ruleX(ticks, {
        ...{ x: 'x', y1: ({ y }) => y - 0.12, y2: ({ y }) => y + 0.12 },
        ...{ stroke: 'var(--ink)', strokeWidth: 1.5 },
      }),
      text(rows, {
        ...{ ...atEdge, text: 'name', frameAnchor: 'left', textAnchor: 'start', dx: -marginLeft },
        title: ({ arm, name }) => (name === arm.title ? null : arm.title),
      }),
      text(rows, {
        ...{ ...atEdge, text: 'shown', frameAnchor: 'right', textAnchor: 'end' },
        ...{ dx: VALUE_WIDTH - 2, fontWeight: 600, fontSize: width === WIDE ? 14 : 13 },
      }),
    ],
  });
}

const shortened = (name) =>
  name.length <= MOST_CHARACTERS ? name : `${name.slice(0, MOST_CHARACTERS - 1)}…`;
