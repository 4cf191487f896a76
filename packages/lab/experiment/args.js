import { UsageError } from '@millrace/base/command';
import { readArgs } from '../run/command.js';
import { randomSeed } from '../stats/random.js';
import { checkAdHoc } from './adhoc-args.js';
import { readFailOn } from './fail-on.js';
import { OPTIONS } from './options.js';
import { LARGEST } from './plan.js';

/** What an experiment of a file has already. */
const AD_HOC = [
  ...[
    'control',
    'treatment',
    'url',
    'ws',
    'protocol',
    'event',
    'reply',
    'data',
    'to',
    'script',
    'health',
    'proof',
    'ignore',
  ],
  ...['control-env', 'treatment-env', 'rate', 'warmup'],
];

/**
 * The options of the program.
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
 * @property {string[]} url
 * @property {Record<string, string>} control-env
 * @property {Record<string, string>} treatment-env
 * @property {RegExp | undefined} proof
 * @property {RegExp | undefined} ignore
 * @property {Set<string> | undefined} fail-on findings
 * @property {import('./plan.js').Size} size
 * @property {boolean} json
 * @property {boolean} help
 */
export function readExperimentArgs(argv) {
  const { options, rest } = readArgs(argv, OPTIONS);
  if (rest.length > 1) {
    const hint = rest.some((each) => each.includes(' '))
      ? ' A command to compare comes after --control or --treatment.'
      : '';
    throw new UsageError(`there are ${rest.join(' and ')}; name one experiment at a time.${hint}`);
  }
  const [name] = rest;
  const given = Object.keys(options).filter((each) => ![undefined, false].includes(options[each]));
  options.name = name;
  options.url ??= [];
  options.size ??= LARGEST;
  if (!options.resume) options.seed ??= randomSeed();
  options.forS = seconds(options.for);
  for (const each of ['control-env', 'treatment-env']) {
    options[each] = variables(each, options[each]);
  }
  for (const each of ['proof', 'ignore']) options[each] = pattern(each, options[each]);
  options['fail-on'] = readFailOn(options['fail-on']);
  if (options.help) return options;
  const adHoc = AD_HOC.filter((each) => given.includes(each));
  if (name !== undefined && adHoc.length > 0) {
    throw new UsageError(
      `--${adHoc[0]} cannot be combined with ${name}, which has its own; leave one of them out.`,
    );
  }
  if (options.resume && name === undefined) {
    throw new UsageError('--resume needs the file of an experiment.');
  }
  if (adHoc.length > 0) checkAdHoc(options);
  else if (name === undefined && given.length > 0) {
    throw new UsageError(
      `--${given[0]} needs an experiment: its file, or --control, --treatment and --url.`,
    );
  }
  return options;
}

function variables(name, pairs = []) {
  const wrong = pairs.find((pair) => !/^[A-Za-z_]\w*=/.test(pair));
  if (wrong !== undefined) throw new UsageError(`--${name} is "${wrong}"; it takes NAME=VALUE.`);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

const UNITS = { s: 1, m: 60, h: 3600 };

/** A time as `90m`. */
function seconds(text) {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (Number(count) > 0) return count * UNITS[unit];
  throw new UsageError(`--for is "${text}"; it takes a time, as 45s, 90m or 2h.`);
}

function pattern(name, text) {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(
      `--${name} is "${text}", which is not a regular expression: ${error.message}.`,
    );
  }
}
