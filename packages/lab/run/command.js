/**
 * Command lines of the lab's programs, beside `@millrace/base/command`: an option may take a number in a range, and is given
 * once unless it is a list; whatever ends a program is said, and becomes its exit code; colours.
 */
import { readAllOptions, tell as tellMistake, UsageError } from '@millrace/base/command';
import { isColoured, painter } from '@millrace/base/text';
import { LabError } from '../load/errors.js';

/** Error in the request, not in the measurement. */
const MISTAKES = ['MILLRACE_LAB_E_EXPERIMENT', 'MILLRACE_LAB_E_INVALID_OPTION'];

/**
 * @typedef {object} Option
 * @property {string} [value] what its value is called in the help; absent for a flag
 * @property {string} meaning
 * @property {[least: number, most: number]} [range] of a number
 * @property {boolean} [isWhole] whether that has to be a whole one
 * @property {string[]} [allowed] all that its value may be
 * @property {boolean} [isList] whether it may be given several times
 */

/** @returns {Option} */
export const flag = (meaning) => ({ meaning });
/** @returns {Option} */
export const text = (value, meaning) => ({ value, meaning });
/** @returns {Option} one of several values */
export const choice = (value, allowed, meaning) => ({
  ...{ value, allowed },
  meaning: `${allowed.join(', ')}: ${meaning}`,
});
/** @returns {Option} */
export const list = (value, meaning) => ({ value, meaning, isList: true });
/** @returns {Option} */
export const number = (least, most, meaning) => ({ value: 'N', meaning, range: [least, most] });
/** @returns {Option} */
export const whole = (least, most, meaning) => ({
  ...number(least, most, meaning),
  isWhole: true,
});

/**
 * @param {string[]} argv
 * @param {Record<string, Option>} known
 * @returns {{ options: Record<string, any>, rest: string[] }} by name: flags are true or false, others undefined unless they were given;
 *   and the arguments that are none
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 */
export function readArgs(argv, known) {
  const { values, rest } = readAllOptions(argv, known);
  const options = { help: values.help !== undefined };
  for (const [name, option] of Object.entries(known)) {
    options[name] = taken(name, option, values[name]);
  }
  return { options, rest };
}

/** The options of a program that takes nothing else. */
export function readOnlyOptions(argv, known) {
  const { options, rest } = readArgs(argv, known);
  if (rest.length > 0) throw new UsageError(`${rest[0]} is not an option.`);
  return options;
}

function taken(name, { value, range, isWhole, isList, allowed }, given) {
  if (value === undefined) return given !== undefined;
  if (given === undefined || isList) return given;
  if (given.length > 1) throw new UsageError(`--${name} is given twice; it can be given once.`);
  if (allowed !== undefined && !allowed.includes(given[0])) {
    throw new UsageError(`--${name} is "${given[0]}"; allowed are ${allowed.join(', ')}.`);
  }
  if (range === undefined) return given[0];
  const [least, most] = range;
  const read = Number(given[0]);
  const isNumber = (isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(given[0]);
  if (isNumber && read >= least && read <= most) return read;
  throw new UsageError(
    `--${name} is "${given[0]}"; allowed are ${isWhole ? 'whole ' : ''}numbers from ${least} to ${most}.`,
  );
}

/** Says on stderr what ended something: a sentence of the lab's own errors, all that is known of others. */
export function tell(error) {
  console.error(error instanceof LabError ? `Failed: ${sentence(error.message)}` : error.stack);
}

/** Ends words with a full stop, unless they end in a question, or in what a server wrote. */
const sentence = (words) => (/[.?!]$/.test(words) ? words : `${words}.`);

/** The exit code of an error that was told. */
export const codeOf = ({ code }) => (MISTAKES.includes(code) ? 2 : 1);

/** Says what ended a command, such as `millrace report`, and sets the exit code. */
export function fail(command, error) {
  if (error instanceof UsageError) return tellMistake(command, error);
  tell(error);
  process.exitCode = codeOf(error);
  return undefined;
}

/**
 * Colours for a stream, where it shows some.
 *
 * @param {import('node:tty').WriteStream} out
 */
export function colours(out) {
  const paint = painter(isColoured(out));
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32) };
}
