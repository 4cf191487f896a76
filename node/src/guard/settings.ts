/** Settings from a file: JSON, YAML or TOML, as they are or as Platformatic has them. */
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { nearest } from '../core/nearest.js';
import { MillraceError, show } from '../errors.js';
import { ClassPatterns } from './classes.js';
import { pluginSettings } from './fastify/limits.js';
import type { GuardPluginOptions } from './fastify/types.js';
import { completeOptions, type GuardOptions, settingNames } from './options.js';

/** What a file can say: no functions, and no guard that exists already. */
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
const stems = ['platformatic.service', 'platformatic', 'watt', 'millrace'];
const extensions = ['.json', '.yaml', '.yml', '.toml', '.tml'];

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
 * Reads a settings file: of the plugin's options what is in `server.healthCheck`, and those of the guard from `guard` or `server.guard`. The
 * rest of the file is not looked at. `path` is a file, whose extension says how it is written, or a folder, which is searched for
 * `platformatic.service`, `platformatic`, `watt` and `millrace` with `.json`, `.yaml`, `.yml`, `.toml` or `.tml`. Give the result to the plugin, or its
 * `guard` to `guard()`.
 *
 * `server.healthCheck` is true, false, or an object, as for Platformatic: anything but false or `enabled: false` adds the route /status, and
 * `interval`, 5,000 ms if it is not there, is the time from one health check to the next.
 *
 * Rejects with MILLRACE_E_INVALID_OPTION, and path and line as far as they are known: for a file that is not there or cannot be parsed, a
 * setting that is unknown or out of range, and when the package that reads the format (`yaml`, `smol-toml`) is not installed.
 */
export async function loadSettings(path: string): Promise<GuardSettings> {
  if (typeof path !== 'string' || path === '') {
    throw refused(`the path of a settings file is ${show(path)}; it must be a text`);
  }
  const file = await findFile(path);
  const content = await parse(file, await read(file));
  const at = (place: string) => `${place} in ${file}`;
  const root = table(content, at('the content'));
  const server = root.server == null ? {} : table(root.server, at("'server'"));
  if (root.guard != null && server.guard != null) {
    throw refused(`${file} has 'guard' and 'server.guard'; keep one of them`);
  }
  const guard = server.guard ?? root.guard;
  const guardPlace = at(server.guard == null ? "'guard'" : "'server.guard'");
  const settings: GuardSettings = {
    ...healthCheckSettings(server.healthCheck, at("'server.healthCheck'")),
    ...(guard == null ? {} : { guard: guardSettings(guard, guardPlace) }),
  };
  return settings;
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
  for (const stem of stems) {
    for (const extension of extensions) {
      const file = join(path, stem + extension);
      if (await stat(file).catch(() => null)) return file;
    }
  }
  const names = stems.map((stem) => `${stem}{${extensions.join(',')}}`).join(', ');
  throw refused(`there is no settings file in ${path}; searched for ${names}`);
}

async function read(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch (error) {
    throw refused(`cannot read the settings file ${file}: ${(error as Error).message}`, error);
  }
}

async function parse(file: string, text: string): Promise<unknown> {
  const extension = extname(file).toLowerCase();
  if (extension === '.json')
    return parsed(file, JSON.parse, text, (error) => jsonLine(text, error));
  if (extension === '.yaml' || extension === '.yml') {
    const { parse } = await import('yaml').catch(missing('yaml', file));
    return parsed(file, parse, text, (error) => error.linePos?.[0]?.line);
  }
  if (extension === '.toml' || extension === '.tml') {
    const { parse } = await import('smol-toml').catch(missing('smol-toml', file));
    return parsed(file, parse, text, (error) => error.line);
  }
  throw refused(
    `cannot tell how ${file} is written; its name must end in ${extensions.join(', ')}`,
  );
}

function parsed(
  file: string,
  parse: (text: string) => unknown,
  text: string,
  lineOf: (error: any) => number | undefined,
): unknown {
  try {
    return parse(text);
  } catch (error) {
    const line = lineOf(error);
    const where = line === undefined ? file : `${file}:${line}`;
    throw refused(`cannot parse ${where}: ${(error as Error).message}`, error);
  }
}

/** Given to `catch` directly: so a bundler accepts that the package is not installed. */
const missing = (name: string, file: string) => (error: unknown) => {
  throw refused(`the package '${name}' is needed to read ${file}; npm install ${name}`, error);
};

/** JSON.parse does not always say where. But what is before the place of an error gives another one, for it ends too early. */
function jsonLine(text: string, error: Error): number {
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
