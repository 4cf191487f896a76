/** Where copies are kept. */

import { acd } from './async-cache-dedupe.js';
import type { Copy } from './copy.js';
import { MemoryStore } from './memory-store.js';
import type { CompleteOptions } from './options.js';
import { RemoteStore } from './remote-store.js';

export interface Store {
  /** Time in ms by the clock that copies are dated with. */
  now(): number;
  /** Never fails. At once where it can. */
  get(key: string): Copy | undefined | Promise<Copy | undefined>;
  /** Never fails, and is not waited for. */
  set(key: string, copy: Copy, seconds: number): void;
  counts(): StoreCounts;
}

export interface StoreCounts {
  /** Copies that are kept, and about how many bytes they take; null where the store is not in this process. */
  entries: number | null;
  bytes: number | null;
  /** Times that the store failed, or did not answer within `storeTimeout`. */
  storeErrors: number;
}

export function openStore(options: CompleteOptions): Store {
  const { storage, size, maxStoreBytes, name, storeTimeout } = options;
  if (storage.type === 'memory') return new MemoryStore(size, maxStoreBytes);
  const open = (log: object) => acd().createStorage(storage.type, { ...storage.options, log });
  return new RemoteStore(open, name, storeTimeout);
}
