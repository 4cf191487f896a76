import { inspect } from 'node:util';

/** Samples beyond it are refused: their squares would overflow. */
export const LARGEST = 1e150;

/**
 * A copy of a sample in which every value is a finite number; what is not is refused, and never counted.
 *
 * @param {string} name of the sample, for the message
 * @param {ArrayLike<number>} values an array or a typed array
 * @param {number} [least] how many there must be
 * @returns {Float64Array}
 * @throws {TypeError} no array, or a value that is no number: `control[3] is '7': must be a number`
 * @throws {RangeError} fewer than `least`; a value that is NaN, infinite or beyond ±1e150, with its index
 */
export function sample(name, values, least = 1) {
  if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && 'length' in values)) {
    throw new TypeError(`${name} is ${inspect(values)}: must be an array of numbers`);
  }
  if (values.length < least) {
    throw new RangeError(`${name} has ${values.length} values: must have ${least} or more`);
  }
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    const say = (must) => `${name}[${index}] is ${inspect(value)}: must be ${must}`;
    if (typeof value !== 'number') throw new TypeError(say('a number'));
    if (!(Math.abs(value) <= LARGEST)) {
      throw new RangeError(say('a finite number from -1e150 to 1e150'));
    }
  }
  return Float64Array.from(values);
}

/**
 * Two samples whose values belong together, as those of one round do.
 *
 * @param {ArrayLike<number>} control
 * @param {ArrayLike<number>} treatment
 * @returns {[Float64Array, Float64Array]}
 * @throws {TypeError} as {@link sample}
 * @throws {RangeError} as {@link sample}, and when one has more values than the other
 */
export function pairs(control, treatment) {
  const both = [sample('control', control), sample('treatment', treatment)];
  if (both[0].length !== both[1].length) {
    const [first, second] = both.map(({ length }) => length);
    throw new RangeError(`control has ${first} values, treatment ${second}: must be pairs`);
  }
  return both;
}

/** Reports whether all values are the same. */
export const isConstant = (values) => values.every((value) => value === values[0]);

/**
 * @param {string} name for the message
 * @param {unknown} value
 * @throws {RangeError} when it is not a number between 0 and 1, both excluded
 */
export function checkShare(name, value) {
  if (!(typeof value === 'number' && value > 0 && value < 1)) {
    throw new RangeError(`${name} ${inspect(value)}: must be above 0 and below 1`);
  }
}

/**
 * @param {string} name for the message
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @throws {RangeError} when it is not a whole number in this range
 */
export function checkWhole(name, value, least, most) {
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(
      `${name} ${inspect(value)}: must be a whole number from ${least} to ${most}`,
    );
  }
}

/**
 * @param {unknown} seed of random numbers
 * @throws {RangeError} when it is not a whole number from 0 to 2^32 - 1
 */
export const checkSeed = (seed) => checkWhole('seed', seed, 0, 2 ** 32 - 1);
