/**
 * Events of an emitter across machines, through a NATS server.
 *
 * @module nats/events
 */
export type { BrokerOptions, LinkState, LinkStats } from '../options.js';
export { type Bridge, type BridgeOptions, type BridgeStats, bridge } from './bridge.js';
