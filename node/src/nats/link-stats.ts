/** What a connection to the broker says about itself. Kept apart from the connection, whose types come from a package that users may not have. */

/** `up`: connected. `down`: it was, and comes back by itself. */
export type LinkState = 'connecting' | 'up' | 'down' | 'closed';

/** Counters of a connection to the broker. */
export interface LinkStats {
  state: LinkState;
  /** NATS messages and their bytes, sent and received. Messages that the broker then denies count as sent. */
  sent: number;
  sentBytes: number;
  received: number;
  receivedBytes: number;
  /** Messages that did not leave: the broker was away, or `maxPending` bytes were under way. */
  unsent: { away: number; full: number };
  /** Bytes that the broker has not confirmed; to the nearest 256 KiB. */
  pendingBytes: number;
  /** Denied by its permissions: messages not passed on, and subjects not subscribed. */
  denied: { publish: number; subscribe: number };
  /** How often it came back. */
  reconnects: number;
}
