/** Options of `cached()`: meaning, unit, default and range. */
import type { IncomingMessage } from 'node:http';
import { parse, parseValue, refused } from '@millrace/base/options';
import { isSet } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import type { StaleSource } from '../shedding.js';
import { isPartial } from './shareable.js';

/** Part of a guard that `cached()` needs. */
export interface PressureSource {
  readonly underPressure: boolean;
  readonly caches: Set<StaleSource>;
}

/** Store of the copies, as for async-cache-dedupe. */
export type StorageOptions =
  | { type: 'memory' }
  /** `client`: of ioredis, or one with its interface. */
  | { type: 'redis'; options: { client: object } }
  /** `storage`: extends `StorageInterface` of async-cache-dedupe. */
  | { type: 'custom'; options: { storage: object } };

/** Options of `cached()`. */
export interface CachedOptions {
  /** Seconds for which a copy is served: 0 to 31,536,000. With 0, only identical requests at the same time share an answer. */
  ttl: number;
  /**
   * Seconds after `ttl` in which a copy is served under pressure, to requests that a guard sheds, and in place of an answer that takes longer
   * than `timeout`: 0 to 31,536,000, default 0.
   */
  stale?: number;
  /**
   * Identifies a request apart from its method: requests with the same text get the same response. Undefined or null for a
   * request that shares none. It gets the request of node:http, also in Fastify, and a guard calls it before any middleware
   * has run: use only method, URL and headers. Default: scheme, host and original URL, and none with `Authorization` or
   * `Cookie`.
   */
  key?: (req: IncomingMessage) => string | null | undefined;
  /**
   * Names of request headers that belong to the key as well. Default: the headers that responses name in `Vary`, once they
   * do.
   */
  vary?: readonly string[];
  /** Methods whose responses are shared; others than GET and HEAD need a `key`. Default: `['GET', 'HEAD']`. */
  methods?: readonly string[];
  /** Statuses that are kept: from 200 to 599, but not 206 and 304. Default: 200 to 299. */
  statuses?: readonly number[];
  /**
   * Guard whose pressure counts. It answers requests that it would shed with a copy where there is one, before any middleware
   * runs: not for handlers behind middleware that checks access, or that sets headers which clients need. Default: the
   * pressure of the guard that a request has passed; requests that it sheds get no copy.
   */
  guard?: PressureSource;
  /**
   * Returns true to serve stale copies now. Default: the guard's `underPressure`; without a guard, in Fastify, the server's
   * `isUnderPressure()`, if it has one.
   */
  underPressure?: () => boolean;
  /**
   * Longest wait for the response to another request, in ms: 1 to 2,147,483,647, default 30,000. Beyond it a stale copy is
   * served, or the request fails with MILLRACE_E_TIMEOUT and status 503; the next one runs the handler anew.
   */
  timeout?: number;
  /**
   * Longest body that is shared and kept, in bytes: 0 to 1 GiB, default 1 MiB. As much is recorded of each response in
   * progress.
   */
  maxBytes?: number;
  /** Copies in memory: 1 to 10,000,000, default 1,024. The least recently used is dropped first. */
  size?: number;
  /** Bytes of copies in memory, about: 1 to 2^53 - 1, default 64 MiB. */
  maxStoreBytes?: number;
  /** Default: `{ type: 'memory' }`. */
  storage?: StorageOptions;
  /** Prefix of the keys in a shared store. Default `'millrace'`; required with `key` and a shared store. */
  name?: string;
  /** Longest wait for a store outside of the process, in ms: 1 to 60,000, default 250. Beyond it the handler runs. */
  storeTimeout?: number;
}

const mebi = 1024 * 1024;
const year = 31_536_000;
const readMethods = ['GET', 'HEAD'];

/** A store outside of the process, with what async-cache-dedupe needs of it. */
const storeOf = (...methods: string[]) =>
  is.custom<object>(`an object with ${methods.join(', ')}`, (store: any) =>
    methods.every((method) => typeof store?.[method] === 'function'),
  );

const storeSchemas = {
  memory: is.schema({}),
  redis: is.schema({ client: is.required(storeOf('get', 'set')) }),
  custom: is.schema({
    storage: is.required(
      storeOf('get', 'set', 'invalidate', 'remove', 'clear', 'getTTL', 'exists'),
    ),
  }),
};

const storageSchema = is.schema({
  type: is.required(is.choice(['memory', 'redis', 'custom'])),
  // The type determines the options.
  options: is.anything<object>(),
});

export const cachedSchema = is.schema({
  ttl: is.required(is.number(0, year)),
  stale: is.number(0, year, 0),
  key: is.or(is.callback(), null),
  vary: is.or(
    is.list(
      is.text('the name of a header', (name) => /^[\w!#$%&'+.^`|~-]+$/.test(name)),
      'an array of names of headers',
    ),
    [],
  ),
  methods: is.or(
    is.list(
      is.text("a method, such as 'GET'", (name) => /^[A-Z-]+$/.test(name)),
      "an array of methods, such as 'GET'",
    ),
    readMethods,
  ),
  statuses: is.list(
    is.custom<number>(
      'a status from 200 to 599, but not 206 or 304',
      (status: any) => Number.isInteger(status) && status <= 599 && !isPartial(status),
    ),
    'an array of statuses from 200, but 206 and 304',
  ),
  guard: is.or(
    is.custom<PressureSource>('a Guard: what guard(server) returns', (guard: any) =>
      isSet(guard?.caches),
    ),
    null,
  ),
  underPressure: is.or(is.callback(), null),
  timeout: is.wholeMs(1, 2_147_483_647, 30_000),
  maxBytes: is.bytes(0, 1024 * mebi, mebi),
  size: is.integer(1, 10_000_000, 1024),
  maxStoreBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, 64 * mebi),
  storage: is.object(storageSchema) as is.Field<any, is.Parsed<typeof storageSchema.fields>>,
  name: is.text('a text', (name) => name !== ''),
  storeTimeout: is.wholeMs(1, 60_000, 250),
} satisfies is.FieldsOf<CachedOptions>);

const what = 'cached()';

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function completeOptions(given: CachedOptions) {
  const options = parse(what, given, cachedSchema);
  const { key, name, vary, methods } = options;
  const storage = storageOf(options.storage);
  if (name === undefined && key !== null && storage.type !== 'memory') {
    const why = 'given: the keys of other handlers may be in the same store';
    throw refused(what, 'name', name, why);
  }
  const other = methods.find((each) => !readMethods.includes(each));
  if (other !== undefined && key === null) {
    const why =
      "GET or HEAD without 'key': requests with other methods differ by more than their URL";
    throw refused(what, 'methods', other, why);
  }
  return {
    ...options,
    vary: [...new Set(vary.map((each) => each.toLowerCase()))].sort(),
    statuses: statusesOf(options.statuses),
    storage,
    name: name ?? 'millrace',
  };
}

/** Complete options of a cache. */
export type CompleteOptions = ReturnType<typeof completeOptions>;

function statusesOf(given: readonly number[] | undefined): ReadonlySet<number> {
  if (given !== undefined) return new Set(given);
  const all = Array.from({ length: 100 }, (_, at) => 200 + at);
  return new Set(all.filter((status) => !isPartial(status)));
}

function storageOf(given: is.Parsed<typeof storageSchema.fields> | undefined): {
  type: string;
  options?: object;
} {
  const { type, options = {} } = given ?? { type: 'memory' as const };
  const parsed = parseValue(
    what,
    'storage.options',
    options,
    is.object(storeSchemas[type] as is.Schema),
  );
  return type === 'memory' ? { type } : { type, options: parsed };
}
