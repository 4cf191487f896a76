/** The package that runs identical calls once, and knows how to talk to Redis. Loaded when it is first needed. */
import { createRequire } from 'node:module';
import { packageFile } from '../../core/package-file.js';

export interface Storage {
  get(key: string): unknown;
  set(key: string, value: unknown, seconds: number): unknown;
}

interface AsyncCacheDedupe {
  createStorage(type: string, options: object): Storage;
  createCache(options: { ttl: number }): {
    define(name: string, options: object, run: (argument: any) => unknown): unknown;
  };
}

let loaded: AsyncCacheDedupe | undefined;

export function acd(): AsyncCacheDedupe {
  loaded ??= createRequire(packageFile('package.json', 'cached()'))(
    'async-cache-dedupe',
  ) as AsyncCacheDedupe;
  return loaded;
}

/**
 * A function that runs `run` once for all calls with the same key that come while it runs, and gives them the same promise. The first call
 * runs it before it returns.
 */
export function dedupe<Argument, Result>(
  keyOf: (argument: Argument) => string,
  run: (argument: Argument) => Result | Promise<Result>,
): (argument: Argument) => Promise<Result> {
  // With a ttl of 0 it keeps nothing. It would serve stale results at any time and refresh them behind; here that depends on pressure.
  const cache = acd().createCache({ ttl: 0 }) as any;
  cache.define('run', { serialize: keyOf }, run);
  return cache.run;
}
