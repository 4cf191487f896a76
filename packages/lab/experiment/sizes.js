/**
 * Sizes of a run, the smallest first. `quick` has few rounds and small cases, to look rather than to decide; `medium` decides what a few
 * rounds can; `paper` is of the size that was published, 50 rounds where an experiment has no number of its own. A case or a
 * treatment is measured from the size that its key `from` names, and in every larger one; without that key in all.
 */
export const SIZES = ['quick', 'medium', 'paper'];

/** @typedef {'quick' | 'medium' | 'paper'} Size */

/** The size of a run that nobody has given one. @type {Size} */
export const LARGEST = SIZES.at(-1);

/** @param {Size} size of a run @param {{ from?: Size }} what a case or a treatment */
export const isMeasuredAt = (size, { from = SIZES[0] }) =>
  SIZES.indexOf(from) <= SIZES.indexOf(size);

/**
 * A function of a run's params, for the keys of a load.
 *
 * @template Value
 * @param {Record<Size, Value>} values
 * @returns {(params: { size: Size }) => Value}
 */
export const bySize =
  (values) =>
  ({ size }) =>
    values[size];

/** For forms, see `form.js`. */
export const sizeRule = [
  SIZES.map((each) => `'${each}'`).join(', '),
  (value) => SIZES.includes(value),
];
