/**
 * Sockets: small writes that leave together, large reads, and accepted connections in batches.
 *
 * @module net
 */
export { coalesce } from './coalesce.js';
export type { CoalesceOptions, Coalescer, CoalesceStats } from './coalescer.js';
export type {
  AcceptedSocket,
  AcceptedUpgrade,
  AcceptedWebSocket,
  ConnectionBatches,
  ConnectionsOptions,
  WebSocketServerLike,
} from './connections.js';
export { batchConnections } from './connections.js';
export { enlarge } from './enlarge.js';
export type { Enlarged, EnlargeStats } from './enlarger.js';
export type { EnlargeOptions } from './read-options.js';
