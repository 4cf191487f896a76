import type { QueueMap } from './batch/queue-map.js';
import { HIGH, LOW, NORMAL } from './intake/priority.js';

/** What an engine counts. Names follow the project's metrics vocabulary; all are totals since the start. */
export type Trigger = 'size' | 'threshold' | 'delay' | 'turn' | 'priority' | 'flush' | 'close';

export interface Counters {
  delivered: number;
  batches: number;
  cancelled: number;
  errors: number;
  unhandled: number;
  trigger: Record<Trigger, number>;
  refused: { overloaded: number; closed: number; cancelled: number; retention: number };
  /** Worst wait from push to leaving, in ms, by class: high, normal, low. */
  worstWait: [number, number, number];
}

export function newCounters(): Counters {
  return {
    delivered: 0,
    batches: 0,
    cancelled: 0,
    errors: 0,
    unhandled: 0,
    trigger: { size: 0, threshold: 0, delay: 0, turn: 0, priority: 0, flush: 0, close: 0 },
    refused: { overloaded: 0, closed: 0, cancelled: 0, retention: 0 },
    worstWait: [0, 0, 0],
  };
}

/** A snapshot for users: depths and totals of one queue. */
export interface QueueStats {
  queued: number;
  bytes: number;
  depth: { high: number; normal: number; low: number };
  pushed: number;
  delivered: number;
  batches: number;
  trigger: Record<Trigger, number>;
  cancelled: number;
  errors: number;
  unhandled: number;
  refused: { overloaded: number; closed: number; cancelled: number; retention: number };
  /** Worst wait from push to leaving, in ms. */
  worstWait: { high: number; normal: number; low: number };
}

/** A copy of everything for users. `pushed` is the number of events that were taken in. */
export function snapshot(counters: Counters, queue: QueueMap, pushed: number): QueueStats {
  const { trigger, refused, worstWait, delivered, batches, cancelled, errors, unhandled } =
    counters;
  return {
    queued: queue.count,
    bytes: queue.bytes,
    depth: { high: queue.depth(HIGH), normal: queue.depth(NORMAL), low: queue.depth(LOW) },
    pushed,
    delivered,
    batches,
    trigger: { ...trigger },
    cancelled,
    errors,
    unhandled,
    refused: { ...refused },
    worstWait: { high: worstWait[HIGH], normal: worstWait[NORMAL], low: worstWait[LOW] },
  };
}
