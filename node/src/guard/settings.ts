/** Settings from a file of JSON, or from what was parsed of any other, in the form that Platformatic has. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../core/nearest.js';
import { MillraceError, show } from '../errors.js';
import { ClassPatterns } from './classes.js';
import { pluginSettings } from './fastify/limits.js';
import type { GuardPluginOptions } from './fastify/types.js';
import { completeOptions, type GuardOptions, settingNames } from './options.js';

/** What settings can say: no functions, and no guard that exists already. */
export interface GuardSettings
  extends Pick<
    GuardPluginOptions,
    | 'maxEventLoopDelay'
    | 'maxEventLoopUtilization'
    | 'eventLoopUtilizationMode'
    | 'maxHeapUsedBytes'
    | 'maxRssBytes'
    | 'sampleInterval'
    | 'healthCheckInterval'
    | 'healthCheckTimeout'
    | 'exposeStatusRoute'
    | 'message'
    | 'retryAfter'
  > {
  /** The guard, or its options but for functions. Default: true. */
  guard?: boolean | GuardOptions;
}

type Table = Record<string, unknown>;

/** Names under which a folder is searched, the first that is there. */
const names = ['platformatic.service', 'platformatic', 'watt', 'millrace'].map(
  (stem) => `${stem}.json`,
);

/** Of `server.healthCheck`. The first two are Platformatic's; the others go to the plugin as they are. */
const healthCheckNames = [
  'enabled',
  'interval',
  'maxEventLoopDelay',
  'maxEventLoopUtilization',
  'eventLoopUtilizationMode',
  'maxHeapUsedBytes',
  'maxRssBytes',
  'sampleInterval',
  'healthCheckInterval',
  'healthCheckTimeout',
  'exposeStatusRoute',
  'message',
  'retryAfter',
];

/**
 * Reads settings: of the plugin's options what is in `server.healthCheck`, and those of the guard from `guard` or `server.guard`. The
 * rest is not looked at. `source` is a file of JSON, a folder, which is searched for `platformatic.service.json`, `platformatic.json`,
 * `watt.json` and `millrace.json`, or an object, which your own code has parsed from YAML, TOML or anything else. Give the result to the
 * plugin, or its `guard` to `guard()`.
 *
 * `server.healthCheck` is true, false, or an object, as for Platformatic: anything but false or `enabled: false` adds the route /status, and
 * `interval`, 5,000 ms if it is not there, is the time from one health check to the next.
 *
 * Rejects with MILLRACE_E_INVALID_OPTION, and path and line as far as they are known: for a file that is not there or cannot be parsed, and a
 * setting that is unknown or out of range.
 */
export async function loadSettings(source: string | object): Promise<GuardSettings> {
  if (typeof source === 'object' && source !== null) return settingsOf(source, 'the settings');
  if (typeof source !== 'string' || source === '') {
    throw refused(`the path of a settings file is ${show(source)}; it must be a text`);
  }
  const file = await findFile(source);
  return settingsOf(parse(file, await read(file)), file);
}

function settingsOf(content: unknown, origin: string): GuardSettings {
  const at = (place: string) => `${place} in ${origin}`;
  const root = table(content, at('the content'));
  const server = root.server == null ? {} : table(root.server, at("'server'"));
  if (root.guard != null && server.guard != null) {
    throw refused(`${origin} has 'guard' and 'server.guard'; keep one of them`);
  }
  const guard = server.guard ?? root.guard;
  const guardPlace = at(server.guard == null ? "'guard'" : "'server.guard'");
  return {
    ...healthCheckSettings(server.healthCheck, at("'server.healthCheck'")),
    ...(guard == null ? {} : { guard: guardSettings(guard, guardPlace) }),
  };
}

function healthCheckSettings(given: unknown, place: string): GuardSettings {
  if (given === undefined || given === null || given === false) return {};
  const all = given === true ? {} : table(given, place, 'true, false, or an object');
  refuseUnknown(all, healthCheckNames, place);
  const { enabled = true, interval, ...own } = all;
  if (typeof enabled !== 'boolean') {
    throw refused(`'enabled' of ${place} is ${show(enabled)}; it must be true or false`);
  }
  const settings = { healthCheckInterval: interval ?? 5000, exposeStatusRoute: '/status', ...own };
  checked(place, () => pluginSettings(settings as GuardSettings));
  return enabled ? (settings as GuardSettings) : {};
}

function guardSettings(given: unknown, place: string): boolean | GuardOptions {
  if (typeof given === 'boolean') return given;
  const options = table(given, place, 'true, false, or an object');
  refuseUnknown(options, settingNames, place);
  checked(place, () => new ClassPatterns(completeOptions(options as GuardOptions).classes));
  return options as GuardOptions;
}

/** Says of a refused option where it was. */
function checked(place: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw refused(`${(error as Error).message} (${place})`, error);
  }
}

function refuseUnknown(given: Table, known: readonly string[], place: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    const hint = guess === undefined ? `known are ${known.join(', ')}` : `is '${guess}' meant?`;
    throw refused(`${place} has the unknown setting '${name}'; ${hint}`);
  }
}

function table(value: unknown, what: string, allowed = 'an object'): Table {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
  throw refused(`${what} is ${show(value)}; it must be ${allowed}`);
}

async function findFile(path: string): Promise<string> {
  const found = await stat(path).catch((cause) => {
    throw refused(`cannot read the settings file ${path}: ${cause.message}`, cause);
  });
  if (!found.isDirectory()) return path;
  for (const name of names) {
    const file = join(path, name);
    if (await stat(file).catch(() => null)) return file;
  }
  throw refused(`there is no settings file in ${path}; searched for ${names.join(', ')}`);
}

async function read(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch (error) {
    throw refused(`cannot read the settings file ${file}: ${(error as Error).message}`, error);
  }
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const where = `${file}:${lineOf(text, error as Error)}`;
    const hint = file.endsWith('.json')
      ? ''
      : '; parse it yourself if it is not JSON, and give the result';
    throw refused(`cannot parse ${where}: ${(error as Error).message}${hint}`, error);
  }
}

/** JSON.parse does not always say where. But what is before the place of an error gives another one, for it ends too early. */
function lineOf(text: string, error: Error): number {
  let offset = Number(/position (\d+)/.exec(error.message)?.[1] ?? text.length);
  if (isUnexpectedToken(error)) {
    let [good, bad] = [0, text.length];
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (failsByToken(text.slice(0, middle))) bad = middle;
      else good = middle;
    }
    offset = good;
  }
  return text.slice(0, offset).split('\n').length;
}

function failsByToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return isUnexpectedToken(error as Error);
  }
}

function isUnexpectedToken({ message }: Error): boolean {
  return message.startsWith('Unexpected token') && !/position \d/.test(message);
}

function refused(message: string, cause?: unknown): MillraceError {
  return new MillraceError('MILLRACE_E_INVALID_OPTION', message, { cause });
}
