/** Switches of features, drawn into a chart: a dashed line each, and its name above the lines. */
import { colour } from './theme.js';

/** Room for the names, in CSS pixels. */
export const marksHeight = 20;
const gap = 6;
const nameOf = ({ feature, on }) => `${feature} ${on ? 'on' : 'off'}`;

/**
 * @param {import('./uplot.js').default} plot
 * @param {{ at: number, feature: string, on: boolean }[]} marks in order; `at` in ms since 1970
 */
export function drawMarks({ ctx, bbox, scales, valToPos }, marks) {
  const { min, max } = scales.x;
  const px = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * px}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.strokeStyle = colour('--mark');
  ctx.fillStyle = colour('--mark');
  ctx.lineWidth = px;
  ctx.setLineDash([3 * px, 3 * px]);
  const places = marks
    .filter(({ at }) => at >= min * 1000 && at <= max * 1000)
    .map((mark) => ({ x: Math.round(valToPos(mark.at / 1000, 'x', true)), name: nameOf(mark) }));
  ctx.beginPath();
  for (const { x } of places) {
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  const widthOf = (text) => ctx.measureText(text).width;
  const limits = [bbox.left, bbox.left + bbox.width];
  for (const { text, left } of labels(places, widthOf, limits, gap * px)) {
    ctx.fillText(text, left, bbox.top - 5 * px);
  }
  ctx.restore();
}

/**
 * Texts that do not run into each other: of those that would, one is made.
 * @param {{ x: number, name: string }[]} places in order
 * @param {(text: string) => number} widthOf
 * @param {[number, number]} limits of all texts
 * @param {number} space between two of them
 * @returns {{ text: string, left: number }[]}
 */
export function labels(places, widthOf, [start, end], space) {
  const groups = [];
  for (const { x, name } of places) {
    let group = placed([name], x);
    // To make room for two may leave too little for the one before.
    while (groups.length > 0 && group.left < groups.at(-1).right + space) {
      const before = groups.pop();
      group = placed([...before.names, ...group.names], before.x);
    }
    groups.push(group);
  }
  return groups.map(({ text, left }) => ({ text, left }));

  function placed(names, x) {
    const all = names.join(', ');
    const text = widthOf(all) <= end - start ? all : `${names.length} switches`;
    const width = widthOf(text);
    const left = Math.max(start, Math.min(x, end - width));
    return { names, x, text, left, right: left + width };
  }
}
