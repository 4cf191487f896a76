/** What a connection to the broker says about itself. Kept apart from the connection, whose types come from a package that users may not have. */

/** `up`: connected. `down`: it was, and comes back by itself. */
export type LinkState = 'connecting' | 'up' | 'down' | 'closed';

/** Counters of a connection to the broker. */
export interface LinkStats {
  state: LinkState;
  /** Messages of NATS, and their bytes, that left and that came. What the broker then did not permit counts as well. */
  sent: number;
  sentBytes: number;
  received: number;
  receivedBytes: number;
  /** Messages that did not leave: the broker was away, or `maxPending` bytes were under way. */
  unsent: { away: number; full: number };
  /** Bytes that the broker has not been seen to take; to the nearest 256 KiB. */
  pendingBytes: number;
  /** What its permissions did not allow: messages that it has not passed on, and subjects that it does not let this hear. */
  denied: { publish: number; subscribe: number };
  /** How often it came back. */
  reconnects: number;
}
