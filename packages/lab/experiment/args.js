import { parseArgs } from 'node:util';
import { checkAdHoc } from './adhoc-args.js';
import { readFailOn } from './fail-on.js';
import { nearest } from './form.js';
import { FLAGS, LISTS, NUMBERS, TEXTS } from './options.js';

const NAMES = [...Object.keys(TEXTS), ...Object.keys(LISTS), ...Object.keys(NUMBERS)];
const KNOWN = [...NAMES, ...Object.keys(FLAGS)];
const MOST_SEED = NUMBERS.seed[1];

/** What an experiment of a name or a file has already. */
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
 * @throws {Error} one sentence: the option, its value, what is allowed
 *
 * @typedef {object} Options by their names; what was not given is undefined, except these
 * @property {string | undefined} name of an experiment, or the path of its file
 * @property {number} seed
 * @property {string[]} url
 * @property {Record<string, string>} control-env
 * @property {Record<string, string>} treatment-env
 * @property {RegExp | undefined} proof
 * @property {RegExp | undefined} ignore
 * @property {Set<string> | undefined} fail-on findings
 * @property {boolean} quick
 * @property {boolean} json
 * @property {boolean} help
 */
export function readArgs(argv) {
  const { values, positionals } = parse(argv);
  if (positionals.length > 1) {
    const hint = positionals.some((each) => each.includes(' '))
      ? ' A command to compare comes after --control or --treatment.'
      : '';
    throw new Error(
      `There are ${positionals.join(' and ')}; allowed is one experiment at a time.${hint}`,
    );
  }
  const [name] = positionals;
  const flags = Object.fromEntries(Object.keys(FLAGS).map((each) => [each, false]));
  const options = { name, ...flags, url: [], ...values };
  for (const each of Object.keys(NUMBERS)) options[each] = number(each, values[each]);
  options.seed ??= Math.floor(Math.random() * (MOST_SEED + 1));
  options['control-env'] = variables('control-env', values['control-env']);
  options['treatment-env'] = variables('treatment-env', values['treatment-env']);
  for (const each of ['proof', 'ignore']) options[each] = pattern(each, values[each]);
  options['fail-on'] = readFailOn(values['fail-on']);
  if (options.help) return options;
  const adHoc = AD_HOC.filter((each) => values[each] !== undefined);
  if (name !== undefined && adHoc.length > 0) {
    throw new Error(
      `--${adHoc[0]} cannot be combined with ${name}, which has its own; leave one of them out.`,
    );
  }
  if (adHoc.length > 0) checkAdHoc(options);
  else if (name === undefined) checkAlone(values);
  return options;
}

/** Without an experiment they are listed: nothing goes with that. */
function checkAlone(values) {
  const [given] = Object.keys(values);
  if (given === undefined) return;
  throw new Error(
    `--${given} needs an experiment: its name or file, or --control, --treatment and --url.`,
  );
}

function parse(argv) {
  const { tokens, values, positionals } = parseArgs({
    args: argv,
    options: Object.fromEntries(
      KNOWN.map((name) => [
        name,
        {
          ...{ type: name in FLAGS ? 'boolean' : 'string', multiple: name in LISTS },
          ...(name === 'help' && { short: 'h' }),
        },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const seen = new Set();
  for (const { kind, name, rawName, value } of tokens) {
    if (kind !== 'option') continue;
    if (!KNOWN.includes(name)) throw new Error(unknown(name, rawName));
    if (seen.has(name) && NAMES.includes(name) && !(name in LISTS)) {
      throw new Error(`--${name} is given twice; it can be given once.`);
    }
    seen.add(name);
    if (name in FLAGS && value !== undefined) {
      throw new Error(`--${name} is "${value}"; it takes no value.`);
    }
    if (!(name in FLAGS) && (value === undefined || value === '')) {
      throw new Error(`--${name} has no value; ${allowed(name)}.`);
    }
  }
  return { values, positionals };
}

function unknown(name, rawName) {
  const near = nearest(name, KNOWN);
  const hint = near === null ? '--help lists them.' : `did you mean --${near}?`;
  return `${rawName} is not an option; ${hint}`;
}

function allowed(name) {
  if (!(name in NUMBERS)) return `it takes ${(TEXTS[name] ?? LISTS[name])[0]}`;
  const [least, most, isWhole] = NUMBERS[name];
  return `allowed are ${isWhole ? 'whole ' : ''}numbers from ${least} to ${most}`;
}

function number(name, value) {
  if (value === undefined) return undefined;
  const [least, most, isWhole] = NUMBERS[name];
  const read = Number(value);
  const isNumber = isWhole ? /^\d+$/.test(value) : /^\d+(\.\d+)?$/.test(value);
  if (isNumber && read >= least && read <= most) return read;
  throw new Error(`--${name} is "${value}"; ${allowed(name)}.`);
}

function variables(name, pairs = []) {
  const wrong = pairs.find((pair) => !/^[A-Za-z_]\w*=/.test(pair));
  if (wrong !== undefined) throw new Error(`--${name} is "${wrong}"; it takes NAME=VALUE.`);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

function pattern(name, text) {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new Error(`--${name} is "${text}", which is not a regular expression: ${error.message}.`);
  }
}
