import type { LinkStats } from '../../broker/link-stats.js';

/** Counters of rooms that reach beyond their process. Messages are counted as `publish()` takes them, not as NATS packs them. */
export interface FleetStats {
  /** The name of this node: random, of 12 characters. */
  node: string;
  /** Other nodes that are heard, and whose members are known. */
  nodes: number;
  /** Rooms, not durable ones, that are heard from other nodes: those with members here. */
  subscriptions: number;
  /** Messages for other nodes that left, and the NATS messages they left in. Not those of durable rooms. */
  sent: number;
  sentBatches: number;
  /** Messages of other nodes that came, and the NATS messages they came in. */
  received: number;
  receivedBatches: number;
  /** Messages that did not leave this node: the broker was away or too slow. Those of durable rooms wait; of them, only those count that turned out to be too large for the broker. */
  unsent: number;
  /** Messages for members here that never came, which the numbers of later ones show. */
  missed: number;
  /** Messages that came again, and were ignored. */
  duplicates: number;
  /** NATS messages that are not of this protocol, and were ignored. */
  malformed: number;
  /** Messages of nodes, and presences of others, beyond what is kept: 10,000 nodes, 64 MiB of lists on their way, 1 GiB of presences. */
  ignored: number;
  /** Messages of other nodes that the queue here had no room for. Those of durable rooms are read again, except one that is larger than `maxQueueBytes`. */
  refused: number;
  /** Present in rooms, on all nodes. */
  present: number;
  /** Durable rooms; null when there are none. */
  durable: DurableStats | null;
  /** The connection to the broker. */
  link: LinkStats;
}

/** Counters of durable rooms. */
export interface DurableStats {
  /** Messages that were published here and that the broker has not stored yet, and their bytes. */
  backlog: number;
  backlogBytes: number;
  /** Messages that it has stored. */
  stored: number;
  /** Stored NATS messages whose sending was repeated. */
  resent: number;
  /** NATS messages that the broker says are stored and not read by this node yet. */
  lag: number;
  /** How often reading began anew: after the broker was away, or the queue here had no room. */
  replays: number;
}

/** What the parts of a fleet count in one place. */
export type Counts = ReturnType<typeof newCounts>;

export const newCounts = () => ({
  sent: 0,
  sentBatches: 0,
  received: 0,
  receivedBatches: 0,
  unsent: 0,
  missed: 0,
  duplicates: 0,
  malformed: 0,
  ignored: 0,
  refused: 0,
});
