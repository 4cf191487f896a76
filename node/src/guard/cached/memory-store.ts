import { type Copy, sizeOf } from './copy.js';
import { Lru } from './lru.js';
import type { Store } from './store.js';

/**
 * Copies in this process. Its clock is the monotonic one, which nobody sets; and it knows how many bytes it has, which the memory
 * storage of async-cache-dedupe does not.
 */
export class MemoryStore implements Store {
  readonly #copies: Lru<{ copy: Copy; until: number }>;

  constructor(size: number, maxBytes: number) {
    this.#copies = new Lru(size, maxBytes);
  }

  now(): number {
    return performance.now();
  }

  get(key: string): Copy | undefined {
    const kept = this.#copies.get(key);
    if (kept === undefined || kept.until > this.now()) return kept?.copy;
    this.#copies.delete(key);
    return undefined;
  }

  set(key: string, copy: Copy, seconds: number): void {
    const bytes = sizeOf(copy) + 2 * key.length;
    this.#copies.set(key, { copy, until: this.now() + seconds * 1000 }, bytes);
  }

  counts() {
    return { entries: this.#copies.size, bytes: this.#copies.bytes, storeErrors: 0 };
  }
}
