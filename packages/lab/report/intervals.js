/** Arms of one metric, each by itself, with an interval. */
import { pairedShift } from '../stats/index.js';
import { isNumber } from './numbers.js';
import { figuresOf, shownArms } from './select.js';

/**
 * The median of the rounds of each arm, the twin left out, with the exact interval of the signed-rank test for the rounds of that arm
 * alone. Two of these intervals may overlap although the arms differ: the verdict compares round by round.
 *
 * @param {object} results
 * @param {object} wanted the metric, and the case
 * @returns {{ arm: object, value: number, lo: number | null, hi: number | null }[]} arms that have a value in each round; no interval of a
 *   single round
 */
export function armIntervals(results, wanted) {
  const figures = figuresOf(results, wanted);
  return shownArms(results)
    .filter(({ role }) => role !== 'twin')
    .map((arm) => {
      const figure =
        arm.role === 'control' ? figures[0] : figures.find((each) => each.arm === arm.name);
      return { arm, value: figure?.[arm.role], values: figure?.values?.[arm.role] ?? [] };
    })
    .filter(({ value, values }) => isNumber(value) && values.every(isNumber))
    .map(({ values, ...each }) => ({ ...each, ...intervalOf(values) }));
}

function intervalOf(values) {
  if (values.length < 2) return { lo: null, hi: null };
  const { lo, hi } = pairedShift(
    values.map(() => 0),
    values,
  );
  return { lo, hi };
}
