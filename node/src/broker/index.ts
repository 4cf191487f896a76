/**
 * Events across machines, through a NATS server; and the connection options of everything that uses one.
 *
 * @module
 */
export { type Bridge, type BridgeStats, bridge } from './bridge.js';
export type { BridgeOptions } from './bridge-options.js';
export type { LinkState, LinkStats } from './link-stats.js';
export type { BrokerOptions } from './options.js';
