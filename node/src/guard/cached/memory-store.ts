import { performance } from '../../core/timers.cjs';
import { type Copy, sizeOf } from './copy.js';
import { Lru } from './lru.js';
import type { Store } from './store.js';

/**
 * Copies in this process. Its clock is the monotonic one, which nobody sets; and it knows how many bytes it has, which the memory
 * storage of async-cache-dedupe does not. A copy that is too old for everything stays until its place is needed.
 */
export class MemoryStore implements Store {
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
