/**
 * Settings of auto: the environment before the file before the defaults. Reading it has no side effects. A file is checked as
 * all options are: config.schema.json says what it may hold, and its keywords become fields of the parser. What JSON Schema
 * cannot express, that one setting must not be larger than another, is checked after that. Each mistake is an Error whose
 * message is one sentence: name, bad value, and what was probably meant. Only loaded where the environment or a file may say
 * something.
 */
import { builtin } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import type { EnlargeOptions } from '../net/index.js' with { 'resolution-mode': 'import' };
import type { DashboardSettings, FeatureName, Settings } from './feature.cjs';
import { defaults, usualFile } from './features.cjs';

const { existsSync, readFileSync } = builtin('node:fs');
const { badValue, show } = is;

type Table = Record<string, unknown>;

/** Settings of `MILLRACE` and files, before the dashboard's defaults are filled in. */
type Given = { -readonly [Name in keyof Settings]: Settings[Name] | undefined };

export const featureNames: readonly FeatureName[] = [
  'ws',
  'fs',
  'dns',
  'reads',
  'net',
  'guard',
  'monitor',
  'stalls',
];
const environment = 'the environment';
/** The feature `guard` with its option `observe`. */
const shadow = 'guard-shadow';
const switchNames = ['off', 'observe', 'on', 'all', 'dashboard', 'no-dashboard', shadow].concat(
  featureNames,
  featureNames.map((name) => `no-${name}`),
);

const dashboardDefaults: DashboardSettings = { host: '127.0.0.1', port: 7117, token: null };
const off: Settings = Object.freeze({
  ...defaults,
  mode: 'off',
  ws: false,
  fs: false,
  dns: false,
  reads: false,
});

/** Pairs of settings of which the first must not be larger than the second. */
const orders: readonly (readonly [table: string, smaller: string, larger: string])[] = [
  ['reads', 'minRead', 'maxRead'],
  ['monitor', 'lower', 'limit'],
  ['guard.rejectDelay', 'min', 'max'],
  ['guard.concurrency', 'initial', 'max'],
  ['guard.concurrency', 'min', 'max'],
];
/** Defaults that count when the larger one is not given. */
const usualLimitMs = 42;
const usualMaxRead = 256 * 1024;

/** The words of MILLRACE. */
export function switchesOf({ MILLRACE }: NodeJS.ProcessEnv): string[] {
  return MILLRACE ? MILLRACE.split(',').map((word) => word.trim()) : [];
}

/**
 * Reads MILLRACE, MILLRACE_CONFIG, MILLRACE_DASHBOARD, MILLRACE_DASHBOARD_TOKEN and MILLRACE_PROBES from `env`, and
 * millrace.config.json from the folder `cwd`. With `off` among the switches nothing else is looked at. Throws at the first mistake.
 */
export function readSettings(env: NodeJS.ProcessEnv, cwd = '.'): Settings {
  const { MILLRACE, MILLRACE_CONFIG, MILLRACE_DASHBOARD: address, MILLRACE_PROBES: probes } = env;
  const switches = switchesOf(env);
  if (switches.includes('off')) return off;
  const file = MILLRACE_CONFIG || (cwd === '.' ? usualFile : `${cwd}/${usualFile}`);
  const hasFile = MILLRACE_CONFIG ? true : existsSync(file);
  if (!hasFile && !MILLRACE && !address && !probes) return defaults;
  const settings: Given = { ...defaults, ...(hasFile ? ofFile(file) : {}) };
  applySwitches(settings, switches);
  if (address && !switches.includes('no-dashboard')) {
    const { token } = settings.dashboard || dashboardDefaults;
    settings.dashboard = { ...parseAddress('MILLRACE_DASHBOARD', address), token };
  }
  if (probes && !switches.includes('no-stalls')) addProbes(settings, probes);
  const { MILLRACE_DASHBOARD_TOKEN: token } = env;
  if (token && settings.dashboard) settings.dashboard = { ...settings.dashboard, token };
  if (settings.mode === 'off') return { ...off, file: settings.file ?? null };
  return Object.freeze(settings) as Settings;
}

/** Does what the words of MILLRACE say, in their order. */
function applySwitches(settings: Given, words: readonly string[]): void {
  for (const word of words) {
    if (word === '') continue;
    if (!switchNames.includes(word)) throw new Error(mistakenSwitch(word));
    if (word === 'on') settings.mode = 'act';
    else if (word === 'observe') settings.mode = 'observe';
    else if (word === 'all') for (const name of featureNames) settings[name] ||= true;
    else if (word === shadow) settings.guard = { ...tableOf(settings.guard), observe: true };
    else if (word === 'dashboard') settings.dashboard ||= dashboardDefaults;
    else if (word.startsWith('no-')) settings[word.slice(3) as FeatureName] = false;
    else settings[word as FeatureName] ||= true;
  }
}

/** Options of a feature that may be just on or off. */
const tableOf = <Options extends object>(given: boolean | Options | undefined) =>
  typeof given === 'object' ? given : ({} as Options);

function mistakenSwitch(word: string): string {
  const words = word.split(/[\s;:+|]+/);
  if (words.length > 1 && words.every((each) => switchNames.includes(each))) {
    return badValue(environment, 'MILLRACE', show(word), `with commas: ${words.join(',')}`);
  }
  return is.unknownOption('MILLRACE', word, switchNames);
}

/** Switches `stalls` on, with probes at this address. What the file says of them else stays. */
function addProbes(settings: Given, address: string): void {
  const given = typeof settings.stalls === 'object' ? settings.stalls : {};
  const probes = { ...(given.probes || {}), ...parseAddress('MILLRACE_PROBES', address) };
  settings.stalls = { ...given, probes };
}

/** HOST:PORT, with brackets around a HOST that has colons in it. */
function parseAddress(name: string, address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3] ?? Number.NaN);
  if (match !== null && port <= 65_535) return { host: (match[1] ?? match[2])!, port };
  const wanted = 'HOST:PORT, such as 127.0.0.1:7117, with a port from 0 to 65535';
  throw new Error(badValue(environment, name, show(address), wanted));
}

/** The settings of a file. */
function ofFile(file: string): Partial<Given> {
  const content = parse(file);
  const owner = { what: file, error: (message: string) => new Error(message) };
  is.readField(owner, content, fieldOf(require('../../config.schema.json') as JsonSchema), '');
  checkOrder(content as Table, file);
  const { $schema, dashboard: given = false, ...rest } = content as Table;
  const dashboard = given && { ...dashboardDefaults, ...(given === true ? {} : given) };
  return { ...rest, dashboard, file } as Partial<Given>;
}

function parse(file: string): unknown {
  try {
    const text = readFileSync(file, 'utf8');
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch (error) {
    const { name, message } = error as Error;
    const what = name === 'SyntaxError' ? 'is not valid JSON' : 'cannot be read';
    throw new Error(`${file}: the configuration ${what}: ${message.replace(/\s+/g, ' ')}`);
  }
}

function checkOrder(content: Table, file: string): void {
  const refuse = (name: string, value: number, wanted: string) => {
    throw new Error(badValue(file, name, show(value), wanted));
  };
  for (const [path, smaller, larger] of orders) {
    const usual = larger === 'limit' ? usualLimitMs : Number.POSITIVE_INFINITY;
    const { [smaller]: low = 0, [larger]: high = usual } = tableAt(content, path);
    if (low <= high) continue;
    refuse(`${path}.${smaller}`, low, `at most '${larger}', which is ${high}`);
  }
  const { initial, max = 2, min = Math.min(2, max) } = tableAt(content, 'guard.concurrency');
  if (initial !== undefined && initial < min) {
    refuse('guard.concurrency.initial', initial, `at least 'min', which is ${min}`);
  }
  const reads: EnlargeOptions = tableAt(content, 'reads');
  const { minRead = 0, maxRead = Math.max(usualMaxRead, minRead), maxTurn = 0 } = reads;
  if (maxTurn === 0 || maxTurn >= maxRead) return;
  refuse('reads.maxTurn', maxTurn, `0, or at least 'maxRead', which is ${maxRead}`);
}

/** Empty where there is none. */
function tableAt(content: Table, path: string): Record<string, number | undefined> {
  let at: unknown = content;
  for (const key of path.split('.')) at = (at as Table)[key] ?? {};
  return typeof at === 'object' ? (at as Record<string, number>) : {};
}

/** Every keyword of JSON Schema that is understood. Others would be silently ignored, so a test refuses them. */
interface JsonSchema {
  readonly type?: 'boolean' | 'string' | 'integer' | 'number' | 'object';
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: 0;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  /** A secret, which no message shows. */
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: false | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

type AnyField = is.Field<any, any, any>;

export function fieldOf(json: JsonSchema): AnyField {
  return json.writeOnly ? is.secret(plainFieldOf(json)) : plainFieldOf(json);
}

function plainFieldOf(json: JsonSchema): AnyField {
  const { minimum = 0, maximum = 0, minLength = 0, pattern } = json;
  if (json.anyOf !== undefined) return is.either(...json.anyOf.map(fieldOf));
  if (json.enum !== undefined) return is.choice(json.enum);
  if (json.type === 'object') return objectOf(json);
  if (json.type === 'boolean') return is.boolean();
  if (json.type === 'integer') return is.integer(minimum, maximum);
  if (json.type === 'number') {
    return json.exclusiveMinimum === undefined ? is.number(minimum, maximum) : is.above0(maximum);
  }
  if (pattern !== undefined) {
    const expression = new RegExp(pattern);
    return is.text(`a text that matches ${pattern}`, (value) => expression.test(value));
  }
  const wanted = minLength > 0 ? 'a text that is not empty' : 'a text';
  return is.text(wanted, ({ length }) => length >= minLength);
}

function objectOf({ properties = {}, propertyNames, additionalProperties }: JsonSchema): AnyField {
  if (typeof additionalProperties === 'object') {
    const names = propertyNames === undefined ? undefined : fieldOf(propertyNames);
    return is.record(fieldOf(additionalProperties), 'an object', names);
  }
  const fields = Object.entries(properties).map(([name, json]) => [name, fieldOf(json)] as const);
  return is.partial(is.schema(Object.fromEntries(fields)));
}
