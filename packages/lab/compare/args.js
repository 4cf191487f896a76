/** The command line of `compare`: two commands, a load, and options that fit each other. */
import { existsSync } from 'node:fs';
import { UsageError } from '@millrace/base/command';
import { readFailOn } from '../experiment/fail-on.js';
import { LARGEST } from '../experiment/plan.js';
import { whyNotLocal } from '../load/loopback.js';
import { readArgs } from '../run/command.js';
import { randomSeed } from '../stats/random.js';
import { DURATION_S, OPTIONS } from './options.js';

const PROTOCOLS = ['raw', 'chat', 'socket.io'];
const AUDIENCES = ['everyone', 'others', 'sender'];

/** An open loop keeps every response. */
const MOST_REQUESTS = 1_000_000;

/**
 * @param {string[]} argv
 * @returns {Options}
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 *
 * @typedef {object} Options by their names; what was not given is undefined, except these
 * @property {string} a the first command
 * @property {string} b the second one
 * @property {number} seed given, or random
 * @property {string[]} url
 * @property {RegExp | undefined} proof
 * @property {RegExp | undefined} ignore
 * @property {Set<string> | undefined} fail-on findings
 * @property {import('../experiment/plan.js').Size} size always the largest: rounds and duration are options of their own
 * @property {boolean} json
 * @property {boolean} help
 */
export function readCompareArgs(argv) {
  const { options, rest } = readArgs(argv, OPTIONS);
  const [a, b] = rest;
  Object.assign(options, { a, b, size: LARGEST });
  options.url ??= [];
  options.seed ??= randomSeed();
  for (const each of ['proof', 'ignore']) options[each] = pattern(each, options[each]);
  options['fail-on'] = readFailOn(options['fail-on']);
  if (options.help) return options;
  checkCommands(rest);
  checkLoad(options);
  checkTogether(options);
  checkEvents(options);
  if (options.url.length > 0) checkRate(options);
  return options;
}

function checkCommands(commands) {
  const [a, b] = commands;
  if (a === undefined) {
    throw new UsageError("there is no command; give the two that start your server: 'A' 'B'.");
  }
  if (b === undefined) {
    throw new UsageError(
      `there is only one command, "${a}"; give a second one to compare it with.`,
    );
  }
  if (commands.length > 2) {
    throw new UsageError(
      `there are ${commands.length} commands: ${commands.map((each) => `"${each}"`).join(', ')}; give two, each in quotes.`,
    );
  }
  if (a === b) throw new UsageError(`both commands are "${a}"; they must differ.`);
}

function checkLoad({ url, ws, script, health }) {
  if (url.length === 0 && ws === undefined) {
    throw new UsageError('--url or --ws is missing; it says where the servers listen.');
  }
  if (url.length > 0 && ws !== undefined) {
    throw new UsageError('--url and --ws are both there; a comparison has one kind of load.');
  }
  checkUrls(url);
  if (ws !== undefined) checkUrl('ws', ws, 'ws:');
  if (health !== undefined && !health.startsWith('/')) {
    throw new UsageError(`--health is "${health}"; it takes a path, which begins with /.`);
  }
  if (script !== undefined && !existsSync(script)) {
    throw new UsageError(`--script is "${script}"; there is no file ${script}.`);
  }
}

function checkEvents({ protocol, event, reply, data, to, rate, ws }) {
  for (const [name, value] of Object.entries({ event, reply, data })) {
    if (value === undefined) continue;
    if (protocol !== 'socket.io')
      throw new UsageError(`--${name} belongs to --protocol socket.io.`);
    if (
      name !== 'data' &&
      (Buffer.byteLength(value) > 100 || JSON.stringify(value) !== `"${value}"`)
    ) {
      throw new UsageError(
        `--${name} is ${JSON.stringify(value)}; it takes a name of 1 to 100 bytes without " and \\\\.`,
      );
    }
  }
  if (data !== undefined && !isData(data)) {
    throw new UsageError(
      `--data is ${data}; it takes arguments as JSON, with the string "{text}" in them once.`,
    );
  }
  if (to === undefined) return;
  if (ws === undefined) throw new UsageError('--to belongs to --ws.');
  if (!AUDIENCES.includes(to)) {
    throw new UsageError(`--to is "${to}"; allowed are ${AUDIENCES.join(', ')}.`);
  }
  if (to === 'others' && rate === undefined) {
    throw new UsageError(
      '--to others needs --rate: without it a sender waits for its own message.',
    );
  }
}

/** Splits an argument with commas into several. */
function isData(text) {
  try {
    JSON.parse(`[${text}]`);
  } catch {
    return false;
  }
  return text.length <= 1000 && text.split('"{text}"').length === 2;
}

function checkTogether({ url, ws, script, protocol, rate, ignore, connections }) {
  if (protocol !== undefined && ws === undefined)
    throw new UsageError('--protocol belongs to --ws.');
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    throw new UsageError(`--protocol is "${protocol}"; allowed are ${PROTOCOLS.join(', ')}.`);
  }
  if (script !== undefined && (url.length !== 1 || rate !== undefined)) {
    throw new UsageError(
      '--script needs one --url, which it is given, and has no --rate but its own.',
    );
  }
  if (ignore !== undefined && (ws !== undefined || script !== undefined)) {
    throw new UsageError(
      '--ignore belongs to --url without --script: other loads compare no bodies.',
    );
  }
  if (rate !== undefined && connections !== undefined && ws === undefined) {
    throw new UsageError(
      '--connections cannot be combined with --rate: requests at a rate take as many as they need; leave one of them out.',
    );
  }
}

export function checkRate({ url, rate, duration = DURATION_S }) {
  if (rate === undefined) return;
  const requests = rate * duration;
  if (requests >= url.length && requests <= MOST_REQUESTS) return;
  throw new UsageError(
    `--rate ${rate} in --duration ${duration} makes ${Number(requests.toPrecision(3))} requests; allowed are ` +
      `${url.length} (one for each --url) to ${MOST_REQUESTS}.`,
  );
}

export function checkUrls(urls) {
  for (const each of urls) checkUrl('url', each, 'http:');
  const twice = urls.find((each, i) => urls.indexOf(each) !== i);
  if (twice !== undefined) throw new UsageError(`--url "${twice}" is given twice; give it once.`);
  const origins = new Set(urls.map((each) => new URL(withPort(each)).origin));
  if (origins.size > 1) {
    throw new UsageError(`--url has ${[...origins].join(' and ')}; all must be of one server.`);
  }
}

/** Fills in a port, of which the address is only checked. */
const withPort = (url) => url.replaceAll('{port}', '1');

function checkUrl(name, value, protocol) {
  const why = whyNotLocal(withPort(value), [protocol]);
  // A password is for nobody's log.
  const shown = value.replace(/\/\/[^/]*@/, '//…@');
  const hint =
    name === 'url' && value.startsWith('ws:') ? ' A WebSocket server goes with --ws.' : '';
  if (why !== null) throw new UsageError(`--${name} is "${shown}"; it ${why}.${hint}`);
}

/** The regular expression that is the value of an option, if any. */
export function pattern(name, text) {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(
      `--${name} is "${text}", which is not a regular expression: ${error.message}.`,
    );
  }
}
