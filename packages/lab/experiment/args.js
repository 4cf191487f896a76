import { UsageError } from '@millrace/base/command';
import { readArgs } from '../run/command.js';
import { randomSeed } from '../stats/random.js';
import { readFailOn } from './fail-on.js';
import { OPTIONS } from './options.js';
import { LARGEST } from './plan.js';

/**
 * The command line of `experiment`.
 *
 * @param {string[]} argv
 * @returns {Options}
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 *
 * @typedef {object} Options by their names; what was not given is undefined, except these
 * @property {string | undefined} name path of the experiment's file
 * @property {number | undefined} seed given, or random; undefined with `resume`, whose run has one
 * @property {number | undefined} forS seconds
 * @property {boolean} resume
 * @property {Set<string> | undefined} fail-on findings
 * @property {import('./plan.js').Size} size
 * @property {boolean} json
 * @property {boolean} help
 */
export function readExperimentArgs(argv) {
  const { options, rest } = readArgs(argv, OPTIONS);
  if (rest.length > 1) {
    const isCommand = rest.some((each) => each.includes(' '));
    const hint = isCommand ? ' To compare two commands: millrace compare.' : '';
    throw new UsageError(`there are ${rest.join(' and ')}; name one experiment at a time.${hint}`);
  }
  const [name] = rest;
  const [given] = Object.keys(options).filter(
    (each) => ![undefined, false].includes(options[each]),
  );
  options.name = name;
  options.size ??= LARGEST;
  if (!options.resume) options.seed ??= randomSeed();
  options.forS = seconds(options.for);
  options['fail-on'] = readFailOn(options['fail-on']);
  if (name === undefined && given !== undefined && !options.help) {
    throw new UsageError(
      `--${given} needs the file of an experiment. To compare two commands: millrace compare.`,
    );
  }
  return options;
}

const UNITS = { s: 1, m: 60, h: 3600 };

/** A time such as `90m`, in s. */
export function seconds(text) {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (Number(count) > 0) return count * UNITS[unit];
  throw new UsageError(`--for is "${text}"; it takes a time, as 45s, 90m or 2h.`);
}
