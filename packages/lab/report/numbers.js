/** Numbers as texts. What is not known is a dash. */
import { figure, ratioFigure } from '../run/figures.js';

export const NONE = '–';

/** Figure space and punctuation space: as wide as a digit and as a point. */
const DIGIT = '\u2007';
const POINT = '\u2008';

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

const orNone = (format) => (value) => (isNumber(value) ? format(value) : NONE);

/** A quantity: thousands parted, three significant digits below a hundred. */
export const quantity = orNone(figure);

/** A ratio. */
export const times = orNone(ratioFigure);

/** A p value: 0.034, or that it is below 0.001. */
export const pValue = orNone((p) => (p < 0.001 ? '<0.001' : p.toFixed(3)));

/** A difference, Cliff's delta: with its sign. */
export const signed = (format) =>
  orNone((value) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`);

/** A share: 0.053 is 5.3 %. */
export const percent = orNone((share) => `${figure(share * 100)}\u00a0%`);

/** The ends of an interval, for a table. */
export const range = (lo, hi, format = times) =>
  isNumber(lo) && isNumber(hi) ? `${format(lo)}–${format(hi)}` : NONE;

/** A quantity with its unit: `18.4 µs`, `41,200/s`. */
export function measured(value, unit) {
  if (!isNumber(value) || !unit) return quantity(value);
  return unit.startsWith('1/')
    ? `${quantity(value)}${unit.slice(1)}`
    : `${quantity(value)} ${unit}`;
}

/** Level at which the interval covers the truth, rounded down: 0.953 is 95 %. */
export const levelText = (level) =>
  `${Math.floor((isNumber(level) ? level : 0.95) * 100 + 1e-9)}\u00a0%`;

/** Time, to the minute. */
export const moment = (date) =>
  String(date).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, '$1 $2 UTC');

/** Seconds as hours and minutes, or minutes and seconds. */
export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const named = parts.map((part, i) => `${part} ${['h', 'min', 's'][i]}`);
  const first = parts.findIndex((part) => part > 0);
  if (first === -1) return '0 s';
  return named
    .slice(first, first + 2)
    .filter((_, i) => parts[first + i] > 0)
    .join(' ');
}

/**
 * Fills texts of one column up at their ends, so that their decimal points stand below each other when they are
 * aligned to the right in a font whose digits are equally wide.
 *
 * @param {string[]} texts
 * @returns {string[]}
 */
export function aligned(texts) {
  const lengths = texts.map((text) => fraction(text));
  const longest = Math.max(0, ...lengths);
  return texts.map((text, i) => {
    const missing = longest - lengths[i];
    if (missing === 0 || text === NONE) return text;
    return (
      text + (lengths[i] === 0 ? POINT : '') + DIGIT.repeat(missing - (lengths[i] === 0 ? 1 : 0))
    );
  });
}

/** The length of what follows the whole part. */
function fraction(text) {
  const point = text.lastIndexOf('.');
  return point === -1 ? 0 : text.length - point;
}
