import type { LinkStats } from '../../../broker/link-stats.js';
import type { DurableStats } from '../../fleet/stats.js';

/** Counters of an adapter with a broker. */
export interface MillraceAdapterStats {
  /** Other nodes that are known. */
  nodes: number;
  /** Answers of other nodes that somebody waits for: acknowledgements, `fetchSockets`, `serverSideEmit`. */
  requests: number;
  /** Messages of NATS that did not come, as the numbers of those that came later show. */
  missed: number;
  /** Messages of NATS that came again, and were left out; of durable rooms, broadcasts. */
  duplicates: number;
  /** Messages, or parts of them, that came and were not of this format. */
  malformed: number;
  /** Messages of nodes beyond what is kept: 10,000 nodes, 64 MiB of their namespaces, 10,000 requests that wait for clients here. */
  ignored: number;
  /** Answers that were not sent: what they hold is above the broker's limit, or JSON cannot express it. */
  unanswered: number;
  /** Durable rooms; null when there are none. */
  durable: DurableStats | null;
  /** The connection to the broker. */
  broker: LinkStats;
}
