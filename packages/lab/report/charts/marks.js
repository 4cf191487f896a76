/** Marks and scales that several charts have. */
import { dot, line } from '@observablehq/plot';
import { quantity } from '../numbers.js';
import { look } from './plot.js';

/**
 * A line of an arm through points [x, y].
 *
 * @returns {object} mark of Observable Plot
 */
export const armLine = (arm, points, options = {}) =>
  line(points, { x: '0', y: '1', ...look(arm).line, ...options });

/**
 * The mark of an arm at such points.
 *
 * @returns {object} mark of Observable Plot
 */
export function armDots(arm, points, options = {}) {
  const { symbol, colour } = look(arm);
  const fill = arm.role === 'treatment' ? colour : 'var(--paper)';
  return dot(points, { x: '0', y: '1', symbol, r: 3.5, stroke: colour, fill, ...options });
}

/**
 * Interval from the least to the greatest number, or a little around them when they are the same.
 *
 * @param {number[]} numbers one or more
 * @returns {[number, number]}
 */
export function extent(numbers) {
  const least = numbers.reduce((a, b) => Math.min(a, b));
  const most = numbers.reduce((a, b) => Math.max(a, b));
  if (least < most) return [least, most];
  const around = Math.abs(least) * 0.1 || 1;
  return [least - around, most + around];
}

/** Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten, or powers alone over a wide range. */
export function logTicks([lo, hi], most = 7) {
  const from = Math.floor(Math.log10(lo));
  const powers = Array.from({ length: Math.ceil(Math.log10(hi)) - from + 1 }, (_, i) => from + i);
  const of = (steps) =>
    powers
      .flatMap((power) => steps.map((step) => Number(`${step}e${power}`)))
      .filter((tick) => tick >= lo * 0.999 && tick <= hi * 1.001);
  const choices = [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]];
  return choices.map(of).find((ticks) => ticks.length <= most) ?? of([1]);
}

/** A number at a tick: short. */
export function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return `${quantityShort(value / 1e9)} G`;
  if (size >= 1e6) return `${quantityShort(value / 1e6)} M`;
  if (size >= 1e4) return `${quantityShort(value / 1e3)} k`;
  return quantityShort(value);
}

const quantityShort = (value) =>
  Number.isInteger(value) ? quantity(value) : String(Number(value.toPrecision(6)));
