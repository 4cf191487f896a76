import type { LinkStats } from '../../broker/link-stats.js';
import type { PoolStats } from '../stats.js';

/** What a client of durable tasks counts. */
export class ClientCounts {
  completed = 0;
  failed = 0;
  refused = 0;
  messages = 0;
  packed = 0;
  duplicates = 0;
  repeated = 0;
}

interface Now {
  readonly sizes: readonly [number, number, number];
  readonly unstored: number;
  readonly pending: number;
  readonly maxQueue: number;
  readonly stored: number;
  readonly resent: number;
  readonly link: LinkStats;
}

const noTimes = { count: 0, mean: 0, p50: 0, p99: 0, max: 0 };

/** In the form of a pool's: what waits is not stored yet, what runs is stored and not answered. */
export function clientStats(counts: ClientCounts, now: Now): PoolStats {
  const [high, normal, low] = now.sizes;
  const { completed, failed, refused, messages, packed, duplicates, repeated } = counts;
  return {
    queued: { high, normal, low, ahead: 0, total: now.unstored },
    maxQueue: now.maxQueue,
    running: Math.max(0, now.pending - now.unstored),
    completed,
    failed,
    refused,
    workers: { total: 0, ready: 0, busy: 0, idle: 0 },
    minThreads: 0,
    maxThreads: 0,
    batches: messages,
    meanBatch: messages === 0 ? 0 : packed / messages,
    ...{ stolen: 0, requeued: 0, retried: 0, timedOut: 0, crashed: 0, throttled: false },
    waitMs: noTimes,
    runMs: noTimes,
    memory: { reservedBytes: 0, limitBytes: 0 },
    durable: { stored: now.stored, resent: now.resent, duplicates, repeated, link: now.link },
  };
}
