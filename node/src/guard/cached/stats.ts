/** What `cached()` counts. */
import { type Bypass, bypassReasons } from './key.js';
import { type Unshared, unsharedReasons } from './shareable.js';
import type { StoreCounts } from './store.js';

/** Why an answer that may be shared was not kept: the reasons for those that may not, or its status. */
type NotKept = Unshared | 'status';

/**
 * Each request that came to the handler is counted once, in one of the first seven or in `bypassed`, when it is known what becomes of it.
 */
export interface CachedStats extends StoreCounts {
  /** Served from a copy within its `ttl`. */
  hits: number;
  /** Served from a copy past it. */
  stale: number;
  /** Ran the handler, for themselves and for whoever came meanwhile. */
  misses: number;
  /** Served with the answer that the handler gave to another. */
  deduplicated: number;
  /** Waited for a run of the handler that failed, and were given its error. */
  failed: number;
  /** Waited longer than `timeout`, and there was no copy. */
  timedOut: number;
  /** Left, or were answered by somebody else, while they waited. */
  gone: number;
  /** Ran the handler as without a cache, by reason. */
  bypassed: Record<Bypass, number>;
  /** Answers of `misses` that were not kept, by reason. */
  notKept: Record<NotKept, number>;
  /** Runs that were cut short by their client's leaving and begun again for those who waited. */
  cut: number;
  /** Of `hits`, `stale`, `shed` and `deduplicated`: told with a 304 that they have it. */
  notModified: number;
  /** Not counted above: shed by the guard, and served from a copy instead. */
  shed: number;
}

export type Counts = Omit<CachedStats, keyof StoreCounts>;

export function newCounts(): Counts {
  return {
    hits: 0,
    stale: 0,
    misses: 0,
    deduplicated: 0,
    failed: 0,
    timedOut: 0,
    gone: 0,
    bypassed: zeros(bypassReasons),
    notKept: zeros([...unsharedReasons, 'status']),
    cut: 0,
    notModified: 0,
    shed: 0,
  };
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
