/** Settings from a JSON file, or from an object parsed from any other format, in Platformatic's form. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { check, fault, parseValue, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { limitFields, pluginSettings } from './fastify/limits.js';
import type { GuardPluginOptions } from './fastify/types.js';
import { completeOptions, type GuardOptions, settingFields } from './options.js';

/** Settings in a file: no functions, and no existing guard. */
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
  /** True for a guard with defaults, false for none, or its options except functions. Default: true. */
  guard?: boolean | GuardOptions;
}

const what = 'loadSettings()';

/** File names that a folder is searched for; the first match counts. */
const names = ['platformatic.service', 'platformatic', 'watt', 'millrace'].map(
  (stem) => `${stem}.json`,
);

/** Keys of `server.healthCheck`. The first two are Platformatic's; the others go to the plugin unchanged. */
const healthCheckSchema = is.schema(
  { enabled: is.boolean(), interval: limitFields.healthCheckInterval, ...limitFields },
  { isNullAbsent: true },
);
const guard = is.either(is.boolean(), is.partial(is.schema(settingFields)));
const others = { unknown: 'ignored', isNullAbsent: true } as const;
const fileSchema = is.schema(
  {
    server: is.partial(
      is.schema(
        { healthCheck: is.either(is.boolean(), is.partial(healthCheckSchema)), guard },
        others,
      ),
    ),
    guard,
  },
  others,
);
const sourceField = is.either(
  is.text('the path of a file or folder', (path) => path !== ''),
  is.custom<object>('an object', (value) => typeof value === 'object' && value !== null),
);

/**
 * Reads settings: options of the plugin from `server.healthCheck`, and those of the guard from `guard` or `server.guard`.
 * Everything else is ignored. `source` is a file of JSON, a folder, which is searched for `platformatic.service.json`,
 * `platformatic.json`, `watt.json` and `millrace.json`, or an object, which your own code has parsed from YAML, TOML or
 * anything else. Give the result to the plugin, or its `guard` to `guard()`.
 *
 * `server.healthCheck` is true, false, or an object, as for Platformatic: anything but false or `enabled: false` adds the route /status, and
 * `interval`, 5,000 ms if it is not there, is the time from one health check to the next.
 *
 * Rejects with MILLRACE_E_INVALID_OPTION, and path and line as far as they are known: for a file that is not there or cannot be parsed, and a
 * setting that is unknown or out of range.
 */
export async function loadSettings(source: string | object): Promise<GuardSettings> {
  parseValue(what, 'source', source, sourceField);
  if (typeof source === 'object') return settingsOf(source, 'the settings');
  const file = await findFile(source);
  return settingsOf(parse(file, await read(file)), file);
}

interface Content {
  readonly server?: {
    readonly healthCheck?: boolean | Record<string, unknown> | null;
    readonly guard?: GuardSettings['guard'] | null;
  } | null;
  readonly guard?: GuardSettings['guard'] | null;
}

/** `origin` begins the messages. */
function settingsOf(content: unknown, origin: string): GuardSettings {
  check(origin, content, fileSchema);
  const { server, guard } = content as Content;
  const own = server?.guard ?? guard;
  if (guard != null && server?.guard != null) {
    throw refused(origin, 'server.guard', own, "left out beside 'guard', or 'guard' beside it");
  }
  const settings = healthCheckSettings(origin, server?.healthCheck);
  if (own == null) return settings;
  if (typeof own === 'object') completeOptions(own, origin);
  return { ...settings, guard: own };
}

function healthCheckSettings(
  origin: string,
  given: boolean | Record<string, unknown> | null | undefined,
): GuardSettings {
  if (given === undefined || given === null || given === false) return {};
  const { enabled, interval, ...own } = given === true ? ({} as Record<string, unknown>) : given;
  const settings: GuardSettings = {
    healthCheckInterval: (interval as number | null | undefined) ?? 5000,
    exposeStatusRoute: '/status',
    ...own,
  };
  pluginSettings(settings, origin);
  return enabled === false ? {} : settings;
}

async function findFile(path: string): Promise<string> {
  const found = await stat(path).catch((cause) => {
    throw fault(what, `cannot read the settings file ${path}: ${cause.message}`, { cause });
  });
  if (!found.isDirectory()) return path;
  for (const name of names) {
    const file = join(path, name);
    if (await stat(file).catch(() => null)) return file;
  }
  throw fault(what, `there is no settings file in ${path}; searched for ${names.join(', ')}`);
}

async function read(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch (cause) {
    throw fault(what, `cannot read the settings file ${file}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const where = `${file}:${lineOf(text, cause as Error)}`;
    const hint = file.endsWith('.json')
      ? ''
      : '; parse it yourself if it is not JSON, and give the result';
    throw fault(what, `cannot parse ${where}: ${(cause as Error).message}${hint}`, { cause });
  }
}

/** Returns the line of a syntax error. JSON.parse may not report it; text cut before the error fails otherwise: at its end. */
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
