/** What a configuration file and the environment say. Only loaded where there is one of them. */
import { builtin } from '@millrace/base/realm';
import { badValue, readField, show, unknownOption } from '@millrace/base/schema';
import type { EnlargeOptions } from '../net/index.js' with { 'resolution-mode': 'import' };
import { fieldOf, type JsonSchema } from './schema.cjs';
import type { DashboardSettings, FeatureName, Settings } from './types.cjs';

const { readFileSync } = builtin('node:fs');

type Table = Record<string, unknown>;

/** As `MILLRACE` and files say it, before the dashboard's defaults are filled in. */
export type Given = { -readonly [Name in keyof Settings]: Settings[Name] | undefined };

const environment = 'the environment';
const names: readonly FeatureName[] = ['ws', 'fs', 'reads', 'net', 'guard', 'monitor'];
const switchNames = ['off', 'observe', 'on', 'all', 'dashboard', 'no-dashboard'].concat(
  names,
  names.map((name) => `no-${name}`),
);

const dashboardDefaults: DashboardSettings = { host: '127.0.0.1', port: 7117, token: null };

/** Pairs of settings of which the first must not be larger than the second, which the schema cannot express. */
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

/** The settings of a file. Throws an Error with a sentence if it cannot be read, is not JSON, or has a mistake in it. */
export function ofFile(file: string): Partial<Given> {
  const content = parse(file);
  const owner = { what: file, error: (message: string) => new Error(message) };
  readField(owner, content, fieldOf(schema()), '');
  checkOrder(content as Table, file);
  const { $schema, dashboard = false, ...rest } = content as Table;
  return { ...rest, dashboard: dashboardOf(dashboard), file } as Partial<Given>;
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

const schema = () => require('../../config.schema.json') as JsonSchema;

function checkOrder(content: Table, file: string): void {
  const refuse = (name: string, value: number, wanted: string) => {
    throw new Error(badValue(file, name, show(value), wanted));
  };
  for (const [path, smaller, larger] of orders) {
    const table = tableAt(content, path);
    const usual = larger === 'limit' ? usualLimitMs : Number.POSITIVE_INFINITY;
    const { [smaller]: low = 0, [larger]: high = usual } = table as Record<string, number>;
    if (low <= high) continue;
    refuse(`${path}.${smaller}`, low, `at most '${larger}', which is ${high}`);
  }
  const limits = tableAt(content, 'guard.concurrency') as Record<string, number>;
  const { initial, max = 2, min = Math.min(2, max) } = limits;
  if (initial !== undefined && initial < min) {
    refuse('guard.concurrency.initial', initial, `at least 'min', which is ${min}`);
  }
  const reads = tableAt(content, 'reads') as EnlargeOptions;
  const { minRead = 0, maxRead = Math.max(usualMaxRead, minRead), maxTurn = 0 } = reads;
  if (maxTurn === 0 || maxTurn >= maxRead) return;
  refuse('reads.maxTurn', maxTurn, `0, or at least 'maxRead', which is ${maxRead}`);
}

/** Empty where there is none. */
function tableAt(content: Table, path: string): Table {
  let at: unknown = content;
  for (const key of path.split('.')) at = (at as Table)[key] ?? {};
  return typeof at === 'object' ? (at as Table) : {};
}

function dashboardOf(given: unknown): false | DashboardSettings {
  if (given === false) return false;
  return { ...dashboardDefaults, ...(given === true ? {} : (given as object)) };
}

function mistakenSwitch(word: string): string {
  const words = word.split(/[\s;:+|]+/);
  if (words.length > 1 && words.every((each) => switchNames.includes(each))) {
    return badValue(environment, 'MILLRACE', show(word), `with commas: ${words.join(',')}`);
  }
  return unknownOption('MILLRACE', word, switchNames);
}

/** Does what the words of MILLRACE say, in their order. Throws an Error with a sentence about one that is unknown. */
export function applySwitches(settings: Given, words: readonly string[]): void {
  for (const word of words) {
    if (word === '') continue;
    if (!switchNames.includes(word)) {
      throw new Error(mistakenSwitch(word));
    }
    if (word === 'on') settings.mode = 'act';
    else if (word === 'observe') settings.mode = 'observe';
    else if (word === 'all') for (const name of names) settings[name] ||= true;
    else if (word === 'dashboard') settings.dashboard ||= dashboardOf(true);
    else if (word.startsWith('no-')) settings[word.slice(3) as FeatureName] = false;
    else settings[word as FeatureName] ||= true;
  }
}

/**
 * Does what MILLRACE_DASHBOARD and MILLRACE_DASHBOARD_TOKEN say. An address switches the dashboard on, unless MILLRACE
 * switches it off. Throws an Error with a sentence.
 */
export function applyDashboard(
  settings: Given,
  words: readonly string[],
  address: string | undefined,
  token: string | undefined,
): void {
  if (address && !words.includes('no-dashboard')) {
    const { token } = settings.dashboard || dashboardDefaults;
    settings.dashboard = { ...parseAddress(address), token };
  }
  if (token && settings.dashboard) settings.dashboard = { ...settings.dashboard, token };
}

/** HOST:PORT, with brackets around a HOST that has colons in it. */
function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3] ?? Number.NaN);
  if (match !== null && port <= 65_535) return { host: (match[1] ?? match[2])!, port };
  const wanted = 'HOST:PORT, such as 127.0.0.1:7117, with a port from 0 to 65535';
  throw new Error(badValue(environment, 'MILLRACE_DASHBOARD', show(address), wanted));
}
