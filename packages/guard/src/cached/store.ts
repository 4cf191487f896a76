/**
 * Stores of copies: in this process, in Redis, or in a store of the user's own; and the package for the last two,
 * async-cache-dedupe.
 */

import { MillraceError } from '@millrace/base/errors';
import { peer } from '@millrace/base/installed';
import { clearTimeout, performance, setTimeout, wallClock } from '@millrace/base/timers';
import { thisPackage } from '../package.cjs';
import { type Copy, decode, encode, sizeOf } from './answer.js';
import type { CompleteOptions } from './options.js';

export interface Store {
  /** Time in ms by the clock that copies are dated with. */
  now(): number;
  /** Looks up a copy. Never fails. Returns at once where possible. */
  get(key: string): Copy | undefined | Promise<Copy | undefined>;
  /** Stores a copy. Never fails, and is not awaited. */
  set(key: string, copy: Copy, seconds: number): void;
  counts(): StoreCounts;
}

export interface StoreCounts {
  /** Copies kept, and their approximate bytes; null where the store is not in this process. */
  entries: number | null;
  bytes: number | null;
  /** Failures of the store, and timeouts by `storeTimeout`. */
  storeErrors: number;
}

export function openStore(options: CompleteOptions): Store {
  const { storage, size, maxStoreBytes, name, storeTimeout } = options;
  if (storage.type === 'memory') return new MemoryStore(size, maxStoreBytes);
  const open = (log: object) => acd().createStorage(storage.type, { ...storage.options, log });
  return new RemoteStore(open, name, storeTimeout);
}

/**
 * Store in this process. Its clock is the monotonic one, which cannot be set. It counts its bytes, which the memory
 * storage of async-cache-dedupe does not. An expired copy stays until its place is needed.
 */
class MemoryStore implements Store {
  readonly #copies: Lru<Copy>;

  constructor(size: number, maxBytes: number) {
    this.#copies = new Lru(size, maxBytes);
  }

  now(): number {
    return performance.now();
  }

  get(key: string): Copy | undefined {
    return this.#copies.get(key);
  }

  set(key: string, copy: Copy): void {
    this.#copies.set(key, copy, sizeOf(copy) + 2 * key.length);
  }

  counts() {
    return { entries: this.#copies.size, bytes: this.#copies.bytes, storeErrors: 0 };
  }
}

/** Time in ms for which a failed store is not used, so that requests do not wait for it one after the other. */
const restMs = 1000;

/** Logs as async-cache-dedupe and pino do. */
interface Logger {
  debug(entry: unknown): void;
  warn(entry: unknown): void;
  error(entry: unknown): void;
}

/**
 * Store in Redis, or in a store of the user's own. Several processes share it, so copies are dated by the wall clock. A failed read counts
 * as a missing copy, and a failed write keeps none: requests are answered by the handler.
 */
class RemoteStore implements Store {
  readonly #storage: Storage;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  #errors = 0;
  #restsUntil = 0;

  /** @param open makes the storage. It tells its log of its errors, not the caller. */
  constructor(open: (log: Logger) => Storage, name: string, timeoutMs: number) {
    const nothing = () => {};
    this.#storage = open({ debug: nothing, warn: nothing, error: () => this.#failed() });
    this.#prefix = `${name}~`;
    this.#timeoutMs = timeoutMs;
  }

  now(): number {
    return wallClock.now();
  }

  get(key: string): undefined | Promise<Copy | undefined> {
    if (this.#rests) return undefined;
    return new Promise((resolve) => {
      const failed = () => {
        clearTimeout(timer);
        this.#failed();
        resolve(undefined);
      };
      const timer = setTimeout(failed, this.#timeoutMs);
      const found = (value: unknown) => {
        clearTimeout(timer);
        resolve(this.#copyOf(value));
      };
      this.#ask(() => this.#storage.get(this.#prefix + key)).then(found, failed);
    });
  }

  set(key: string, copy: Copy, seconds: number): void {
    if (this.#rests) return;
    // Redis counts in whole seconds. How long a copy may be used is told by its age; this only clears it away.
    const ttl = Math.ceil(seconds);
    this.#ask(() => this.#storage.set(this.#prefix + key, encode(copy), ttl)).catch(() =>
      this.#failed(),
    );
  }

  counts() {
    return { entries: null, bytes: null, storeErrors: this.#errors };
  }

  get #rests(): boolean {
    return performance.now() < this.#restsUntil;
  }

  #failed(): void {
    this.#errors++;
    this.#restsUntil = performance.now() + restMs;
  }

  #copyOf(value: unknown): Copy | undefined {
    if (value === undefined || value === null) return undefined;
    const copy = decode(value);
    if (copy === undefined) this.#errors++;
    return copy;
  }

  async #ask(question: () => unknown): Promise<unknown> {
    return await question();
  }
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
}

/** Bounded map: drops the least recently used entry when it has too many entries or bytes. */
export class Lru<V> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** Entries in the order of their last use. */
  readonly #entries = new Map<string, Entry<V>>();
  #bytes = 0;

  constructor(maxEntries: number, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, bytes = 0): void {
    this.delete(key);
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    while (this.#entries.size > this.#maxEntries || this.#bytes > this.#maxBytes) {
      const [oldest] = this.#entries.keys();
      this.delete(oldest!);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

// ---- the application's package that runs identical calls once, and knows how to talk to Redis; loaded when it is first needed

interface Storage {
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

function acd(): AsyncCacheDedupe {
  loaded ??= peer<AsyncCacheDedupe>(thisPackage, 'async-cache-dedupe');
  if (loaded !== undefined) return loaded;
  throw new MillraceError(
    'MILLRACE_E_PACKAGE',
    'cached() needs the package async-cache-dedupe, which is not installed; run npm install async-cache-dedupe',
  );
}

/**
 * Returns a function that runs `run` once for all calls with the same key that come while it runs, and returns them the same promise. The
 * first call runs it before it returns.
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
