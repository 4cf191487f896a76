/** Allowed values of the keys of a load: `[what is allowed, in words, test]`, the notation of format.js. */
import { LabError } from '../../load/errors.js';
import { isLocalPath } from '../../load/loopback.js';
import { ask, is, show } from '../form.js';

export { show };

const isNumber = (value, least, most) =>
  typeof value === 'number' && value >= least && value <= most;

export const { text, flag, object, pattern, list, texts } = is;
export const paths = [
  "a list of paths, each begins with one '/'",
  (value) => list[1](value) && value.every(isLocalPath),
];
export const scalar = [
  'a number, a text, true or false',
  (value) => ['number', 'string', 'boolean'].includes(typeof value),
];
export const number = (least, most) => [
  `a number from ${least} to ${most}`,
  (value) => isNumber(value, least, most),
];
export const whole = (least, most) => [
  `a whole number from ${least} to ${most}`,
  (value) => isNumber(value, least, most) && value % 1 === 0,
];
export const among = (...allowed) => [
  allowed.map((each) => `'${each}'`).join(' or '),
  (value) => allowed.includes(value),
];

/** The form of a load whose keys may each be a value or a function of the params that gives it. */
export function formOf(keys) {
  return Object.fromEntries(
    Object.entries(keys).map(([key, [allowed, test]]) => [
      key,
      [
        `${allowed}, or a function that gives it`,
        (value) => typeof value === 'function' || test(value),
      ],
    ]),
  );
}

/**
 * The values of a load's keys for a case.
 *
 * @param {Record<string, [string, (value: any) => boolean]>} keys with `?` those that may be left out
 * @param {Record<string, unknown>} load
 * @param {object} params
 * @returns {Record<string, any>} only keys that have a value
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` naming the key, its value and what is allowed
 */
export function settle(keys, load, params) {
  const settled = {};
  for (const [marked, [allowed, test]] of Object.entries(keys)) {
    const key = marked.replace('?', '');
    const value = valueOfKey(load, key, params);
    if (value === undefined && key !== marked) continue;
    if (!test(value)) throw mistake(`load.${key} gave ${show(value)}; it must be ${allowed}`);
    settled[key] = value;
  }
  return settled;
}

/** The value of one key, not looked at. @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when its function fails */
export function valueOfKey(load, key, params) {
  const value = load[key];
  return typeof value === 'function' ? ask(`load.${key}`, () => value(params)) : value;
}

/** A mistake in the experiment's file. */
export function mistake(message) {
  return new LabError('MILLRACE_LAB_E_EXPERIMENT', message);
}
