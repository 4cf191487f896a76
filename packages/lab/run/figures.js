import { median } from '../stats/index.js';

/**
 * A number for people: thousands parted, three significant digits below a hundred.
 *
 * @param {number} value
 */
export function figure(value) {
  const isWhole = Number.isInteger(value) || Math.abs(value) >= 100;
  if (!isWhole || !Number.isFinite(value)) return significant(value, 3);
  return Math.round(value).toLocaleString('en-US');
}

/** A ratio for people: `10.4`, `0.31`, `0.037`. */
export function ratioFigure(ratio) {
  if (ratio > 0 && ratio < 0.001) return '<0.001';
  if (ratio < 0.0995 || !Number.isFinite(ratio)) return significant(ratio, 2);
  if (ratio < 9.995) return ratio.toFixed(2);
  return ratio < 99.95 ? ratio.toFixed(1) : figure(ratio);
}

function significant(value, digits) {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', {
    minimumSignificantDigits: digits,
    maximumSignificantDigits: digits,
  });
}

/**
 * Compares two arms by a figure.
 *
 * @param {number[]} control a value for each round
 * @param {number[]} treatment of the same rounds
 * @param {'higher' | 'lower'} [better] leave it out where neither is
 * @returns {{ control: number, treatment: number, ratio: number, range: [number, number],
 *   verdict: '' | 'better' | 'worse' | 'even' }} medians, and treatment/control by round: `ratio` their median, NaN where a
 *   round has none, `range` the least and the most. It is better or worse only when all rounds agree.
 */
export function compare(control, treatment, better) {
  const ratios = control.map((value, round) => treatment[round] / value);
  const range = [Math.min(...ratios), Math.max(...ratios)];
  return {
    ...{ control: median(control), treatment: median(treatment) },
    ratio: ratios.every(Number.isFinite) ? median(ratios) : Number.NaN,
    range,
    verdict: better === undefined ? '' : verdict(range, better),
  };
}

function verdict([least, most], better) {
  if (least > 1) return better === 'higher' ? 'better' : 'worse';
  if (most < 1) return better === 'higher' ? 'worse' : 'better';
  return 'even';
}
