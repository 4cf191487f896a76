import { HIGH, LOW, NORMAL, type PriorityClass } from '@millrace/base/priority';
import type { QueueOptions } from './options.js';
import type { PolicyStats } from './policy.js';
import type { Queue } from './queue.js';

/** Reason why a batch left. */
export type Trigger = 'size' | 'threshold' | 'delay' | 'turn' | 'priority' | 'flush' | 'close';

/** The counters of an engine. Names follow the project's metrics vocabulary; all are totals since the start. */
export interface Counters {
  delivered: number;
  batches: number;
  /** Events in these batches. */
  batched: number;
  cancelled: number;
  /** Queued events whose place a newer one of their key took. */
  superseded: number;
  errors: number;
  unhandled: number;
  trigger: Record<Trigger, number>;
  refused: { overloaded: number; closed: number; cancelled: number; retention: number };
  /** Worst wait from push to leaving, in ms, by class: high, normal, low. */
  worstWait: [number, number, number];
  /** Totals by class: batches with events of it, and the waits of the oldest event in each, in ms. */
  waited: [number, number, number];
  waitMs: [number, number, number];
  /** Batches that were held, and for how long in sum, in ms. */
  holds: number;
  holdMs: number;
}

export function newCounters(): Counters {
  return {
    delivered: 0,
    batches: 0,
    batched: 0,
    cancelled: 0,
    superseded: 0,
    errors: 0,
    unhandled: 0,
    trigger: { size: 0, threshold: 0, delay: 0, turn: 0, priority: 0, flush: 0, close: 0 },
    refused: { overloaded: 0, closed: 0, cancelled: 0, retention: 0 },
    worstWait: [0, 0, 0],
    waited: [0, 0, 0],
    waitMs: [0, 0, 0],
    holds: 0,
    holdMs: 0,
  };
}

/** Waits of the events of a class, each batch seen through the oldest one in it. */
interface QueueWaits {
  /** Batches that had an event of the class. */
  batches: number;
  /** Waits of the oldest event of the class in each of them, in sum, in ms. */
  sumMs: number;
}

/** Depths and totals of one queue. */
export interface QueueStats {
  queued: number;
  bytes: number;
  /** Share in use of `maxQueue` or `maxQueueBytes`, the higher one; 0 to 1. */
  fill: number;
  depth: { high: number; normal: number; low: number };
  pushed: number;
  delivered: number;
  batches: number;
  /** Events in these batches. */
  batched: number;
  trigger: Record<Trigger, number>;
  cancelled: number;
  /** Queued events whose place a newer one of their key took. */
  superseded: number;
  errors: number;
  unhandled: number;
  refused: { overloaded: number; closed: number; cancelled: number; retention: number };
  /** Worst wait from push to leaving, in ms. */
  worstWait: { high: number; normal: number; low: number };
  waits: { high: QueueWaits; normal: QueueWaits; low: QueueWaits };
  /** Batches that the policy held open, and the total time in ms. */
  holds: number;
  holdMs: number;
  /** Estimates of the policy, and its last decision. */
  policy: PolicyStats;
}

/** A copy of everything for users. `pushed` is the number of events that were taken in. */
export function snapshot(
  counters: Counters,
  queue: Queue,
  pushed: number,
  { maxQueue, maxQueueBytes }: QueueOptions,
  policy: PolicyStats,
): QueueStats {
  const { trigger, refused, worstWait, waited, waitMs, ...totals } = counters;
  const waits = (priority: PriorityClass): QueueWaits => ({
    batches: waited[priority],
    sumMs: waitMs[priority],
  });
  return {
    queued: queue.count,
    bytes: queue.bytes,
    fill: Math.min(1, Math.max(queue.count / maxQueue, queue.bytes / maxQueueBytes)),
    depth: { high: queue.depth(HIGH), normal: queue.depth(NORMAL), low: queue.depth(LOW) },
    pushed,
    ...totals,
    trigger: { ...trigger },
    refused: { ...refused },
    worstWait: { high: worstWait[HIGH], normal: worstWait[NORMAL], low: worstWait[LOW] },
    waits: { high: waits(HIGH), normal: waits(NORMAL), low: waits(LOW) },
    policy,
  };
}
