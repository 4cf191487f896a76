/** The command line of `tune`: one command, a load, and switches. */
import { UsageError } from '@millrace/base/command';
import { nearest } from '@millrace/base/schema';
import { checkRate, checkUrls, pattern } from '../compare/args.js';
import { seconds } from '../experiment/args.js';
import { readFailOn } from '../experiment/fail-on.js';
import { LARGEST } from '../experiment/plan.js';
import { readArgs } from '../run/command.js';
import { randomSeed } from '../stats/random.js';
import { DURATION_S, OPTIONS } from './options.js';
import { GROUPS, switchNames } from './switches.js';

/**
 * @param {string[]} argv
 * @returns {Options}
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 *
 * @typedef {object} Options by their names; an option not given is undefined, except these
 * @property {string} command
 * @property {string[]} url
 * @property {string[]} only groups of switches
 * @property {string[]} without groups and names of switches
 * @property {Record<string, string>} env
 * @property {number} seed given, or random
 * @property {number | undefined} forS seconds
 * @property {RegExp | undefined} ignore
 * @property {Set<string> | undefined} fail-on findings
 * @property {import('../experiment/plan.js').Size} size always the largest: rounds and duration are options of their own
 * @property {boolean} json
 * @property {boolean} help
 */
export function readTuneArgs(argv) {
  const { options, rest } = readArgs(argv, OPTIONS);
  Object.assign(options, { command: rest[0], size: LARGEST });
  options.url ??= [];
  options.seed ??= randomSeed();
  options.ignore = pattern('ignore', options.ignore);
  options['fail-on'] = readFailOn(options['fail-on']);
  options.forS = seconds(options.for);
  options.only = names('only', options.only, GROUPS) ?? GROUPS;
  options.without = names('without', options.without, switchNames()) ?? [];
  options.env = environment(options.env ?? []);
  if (options.help) return options;
  checkCommand(rest);
  checkLoad(options);
  return options;
}

function checkCommand(commands) {
  if (commands.length === 1) return;
  if (commands.length === 0) {
    throw new UsageError("there is no command; give the one that starts your server: 'COMMAND'.");
  }
  throw new UsageError(
    `there are ${commands.length} commands: ${commands.map((each) => `"${each}"`).join(', ')}; give one, in quotes. To compare two: millrace compare.`,
  );
}

function checkLoad({ url, rate, connections, health, duration = DURATION_S }) {
  if (url.length === 0) throw new UsageError('--url is missing; it says where the server listens.');
  checkUrls(url);
  if (health !== undefined && !health.startsWith('/')) {
    throw new UsageError(`--health is "${health}"; it takes a path, which begins with /.`);
  }
  if (rate !== undefined && connections !== undefined) {
    throw new UsageError(
      '--connections cannot be combined with --rate: requests at a rate take as many as they need; leave one of them out.',
    );
  }
  checkRate({ url, rate, duration });
}

/** Splits a list at its commas. */
function names(option, text, allowed) {
  if (text === undefined) return undefined;
  const all = text.split(',').map((each) => each.trim());
  const wrong = all.find((each) => !allowed.includes(each));
  if (wrong === undefined) return all;
  const near = nearest(wrong, allowed);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new UsageError(
    `--${option} has "${wrong}"; allowed are ${allowed.join(', ')}, with commas.${hint}`,
  );
}

function environment(given) {
  const pairs = given.map((each) => {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(each) ?? [];
    if (name !== undefined) return [name, value];
    throw new UsageError(`--env is "${each}"; it takes NAME=VALUE, such as WEB_CONCURRENCY=2.`);
  });
  const twice = pairs.find(([name], i) => pairs.findIndex(([other]) => other === name) !== i);
  if (twice !== undefined) {
    throw new UsageError(`--env has ${twice[0]} twice; each switch is tried by itself, once.`);
  }
  return Object.fromEntries(pairs);
}
