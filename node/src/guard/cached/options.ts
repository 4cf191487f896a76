/** The options of `cached()`: meaning, unit, default, range, and the checks that keep bad ones out. */
import type { IncomingMessage } from 'node:http';
import { check, checkKeys, integer, invalid, number } from '../../core/options.js';
import { isSet } from '../../core/realm.cjs';
import { MillraceError } from '../../errors.js';
import type { StaleSource } from '../shedding.js';
import { isPartial } from './shareable.js';

/** What `cached()` needs of a guard. */
export interface PressureSource {
  readonly underPressure: boolean;
  readonly caches: Set<StaleSource>;
}

/** Where copies are kept, as async-cache-dedupe takes it. */
export type StorageOptions =
  | { type: 'memory' }
  /** `client`: of ioredis, or one with its interface. */
  | { type: 'redis'; options: { client: object } }
  /** `storage`: extends `StorageInterface` of async-cache-dedupe. */
  | { type: 'custom'; options: { storage: object } };

/** Options of `cached()`. */
export interface CachedOptions {
  /** Seconds that a copy is served for: 0 to 31,536,000. With 0, only identical requests at the same time share an answer. */
  ttl: number;
  /**
   * Seconds after `ttl` in which a copy is served under pressure, to requests that a guard sheds, and in place of an answer that takes longer
   * than `timeout`: 0 to 31,536,000, default 0.
   */
  stale?: number;
  /**
   * Identifies what is asked for, apart from the method: requests with the same text get the same answer. Undefined or null for a request that
   * shares none. It is given the request of node:http, also in Fastify, and a guard asks before any middleware has run: let it
   * use no more than method, URL and headers. Default: scheme, host and original URL, and none with `Authorization` or `Cookie`.
   */
  key?: (req: IncomingMessage) => string | null | undefined;
  /** Names of request headers that belong to the key as well. Default: those that answers name in `Vary`, once they have. */
  vary?: readonly string[];
  /** Methods with answers to share; others than GET and HEAD need a `key`. Default: `['GET', 'HEAD']`. */
  methods?: readonly string[];
  /** Statuses that are kept: from 200 to 599, but not 206 and 304. Default: 200 to 299. */
  statuses?: readonly number[];
  /**
   * A guard: its pressure counts, and it answers requests that it would shed with a copy where there is one, before any middleware
   * runs: not for handlers behind one that checks who asks, or that sets headers which clients need. Default: the pressure of the guard
   * that a request has come through, and what it sheds gets no copy.
   */
  guard?: PressureSource;
  /** Whether to serve stale copies now. Default: the guard's `underPressure`; without a guard, in Fastify, the server's `isUnderPressure()`, if it has one. */
  underPressure?: () => boolean;
  /**
   * Longest wait for the answer that a handler gives to somebody else, in ms: 1 to 2,147,483,647, default 30,000. Beyond it a stale copy is
   * served, or the request fails with MILLRACE_E_TIMEOUT and status 503; the next one runs the handler anew.
   */
  timeout?: number;
  /** Longest body that is shared and kept, in bytes: 0 to 1 GiB, default 1 MiB. As much is recorded of each answer under way. */
  maxBytes?: number;
  /** Copies in memory: 1 to 10,000,000, default 1,024. The one not used for longest goes first. */
  size?: number;
  /** Bytes of copies in memory, about: 1 to 2^53 - 1, default 64 MiB. */
  maxStoreBytes?: number;
  /** Default: `{ type: 'memory' }`. */
  storage?: StorageOptions;
  /** What keys begin with in a store that others use too. Default `'millrace'`; has to be given where `key` and such a store are. */
  name?: string;
  /** Longest wait for a store outside of the process, in ms: 1 to 60,000, default 250. Beyond it the handler runs. */
  storeTimeout?: number;
}

export interface CompleteOptions {
  readonly ttl: number;
  readonly stale: number;
  readonly key: ((req: IncomingMessage) => unknown) | null;
  readonly vary: readonly string[];
  readonly methods: readonly string[];
  readonly statuses: ReadonlySet<number>;
  readonly guard: PressureSource | null;
  readonly underPressure: (() => boolean) | null;
  readonly timeout: number;
  readonly maxBytes: number;
  readonly size: number;
  readonly maxStoreBytes: number;
  readonly storage: { type: string; options?: object };
  readonly name: string;
  readonly storeTimeout: number;
}

const names = [
  'ttl',
  'stale',
  'key',
  'vary',
  'methods',
  'statuses',
  'guard',
  'underPressure',
  'timeout',
  'maxBytes',
  'size',
  'maxStoreBytes',
  'storage',
  'name',
  'storeTimeout',
];
const mebi = 1024 * 1024;
const yearSeconds = 31_536_000;
const readMethods = ['GET', 'HEAD'];

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function completeOptions(given: CachedOptions): CompleteOptions {
  checkKeys('the options of cached()', given, names);
  const { ttl, stale = 0, timeout = 30_000, maxBytes = mebi } = given;
  const { size = 1024, maxStoreBytes = 64 * mebi, storeTimeout = 250, guard, name } = given;
  const { key, underPressure, methods = readMethods } = given;
  check('ttl', ttl, number(0, yearSeconds));
  check('stale', stale, number(0, yearSeconds));
  check('timeout', timeout, integer(1, 2_147_483_647));
  check('maxBytes', maxBytes, integer(0, 1024 * mebi));
  check('size', size, integer(1, 10_000_000));
  check('maxStoreBytes', maxStoreBytes, integer(1, Number.MAX_SAFE_INTEGER));
  check('storeTimeout', storeTimeout, integer(1, 60_000));
  if (key !== undefined && typeof key !== 'function') throw invalid('key', key, 'a function');
  if (underPressure !== undefined && typeof underPressure !== 'function') {
    throw invalid('underPressure', underPressure, 'a function');
  }
  if (guard !== undefined && !isSet(guard?.caches)) {
    throw invalid('guard', guard, 'a Guard: what guard(server) returns');
  }
  const storage = storageOf(given.storage);
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw invalid('name', name, 'a text');
  }
  if (name === undefined && key !== undefined && storage.type !== 'memory') {
    throw invalid('name', name, 'given: the keys of other handlers may be in the same store');
  }
  return {
    ttl,
    stale,
    key: key ?? null,
    vary: varyOf(given.vary),
    methods: methodsOf(methods, key !== undefined),
    statuses: statusesOf(given.statuses),
    guard: guard ?? null,
    underPressure: underPressure ?? null,
    timeout,
    maxBytes,
    size,
    maxStoreBytes,
    storage,
    name: name ?? 'millrace',
    storeTimeout,
  };
}

function varyOf(given: CachedOptions['vary'] = []): readonly string[] {
  const isList =
    Array.isArray(given) &&
    given.every((each) => typeof each === 'string' && /^[\w!#$%&'+.^`|~-]+$/.test(each));
  if (!isList) throw invalid('vary', given, 'an array of names of headers');
  return [...new Set(given.map((each) => each.toLowerCase()))].sort();
}

function methodsOf(given: readonly string[], hasKey: boolean): readonly string[] {
  if (!Array.isArray(given) || !given.every((each) => /^[A-Z-]+$/.test(each))) {
    throw invalid('methods', given, "an array of methods, such as 'GET'");
  }
  const other = given.find((each) => !readMethods.includes(each));
  if (other === undefined || hasKey) return [...given];
  throw new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `option 'methods' has '${other}', which needs option 'key': its requests are told apart by more than their URL`,
  );
}

function statusesOf(given: CachedOptions['statuses']): ReadonlySet<number> {
  if (given === undefined) {
    const all = Array.from({ length: 100 }, (_, at) => 200 + at);
    return new Set(all.filter((status) => !isPartial(status)));
  }
  const isList =
    Array.isArray(given) &&
    given.every((each) => Number.isInteger(each) && each <= 599 && !isPartial(each));
  if (!isList) throw invalid('statuses', given, 'an array of statuses from 200, but 206 and 304');
  return new Set(given);
}

/** What a store outside of the process is made of, and what async-cache-dedupe needs of it. */
const parts = {
  redis: ['client', ['get', 'set']],
  custom: ['storage', ['get', 'set', 'invalidate', 'remove', 'clear', 'getTTL', 'exists']],
} as const;

function storageOf(given: unknown = { type: 'memory' }): CompleteOptions['storage'] {
  checkKeys("option 'storage'", given, ['type', 'options']);
  const { type, options } = given as { type: unknown; options?: Record<string, unknown> };
  if (type === 'memory') {
    checkKeys("option 'storage.options' of memory", options ?? {}, []);
    return { type };
  }
  const part = parts[type as keyof typeof parts];
  if (part === undefined || !Object.hasOwn(parts, type as string)) {
    throw invalid('storage.type', type, "one of 'memory', 'redis', 'custom'");
  }
  const [name, methods] = part;
  checkKeys(`option 'storage.options' of ${type}`, options, [name]);
  const store = options![name] as Record<string, unknown> | null | undefined;
  if (!methods.every((method) => typeof store?.[method] === 'function')) {
    throw invalid(`storage.options.${name}`, store, `an object with ${methods.join(', ')}`);
  }
  return { type: type as string, options: options! };
}
