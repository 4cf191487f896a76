/**
 * Events across machines, through a NATS server; and what all that uses one is told of the connection.
 *
 * @module
 */
export { type Bridge, type BridgeStats, bridge } from './bridge.js';
export type { BridgeOptions } from './bridge-options.js';
export type { LinkState, LinkStats } from './link-stats.js';
export type { BrokerOptions } from './options.js';
