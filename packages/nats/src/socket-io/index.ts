/**
 * socket.io over several servers, through a NATS server.
 *
 * @module nats/socket-io
 */
export type { BrokerOptions, LinkState, LinkStats } from '../options.js';
export type { DurableStats, StreamLimits } from '../store/store.js';
export { type NatsAdapter, type NatsAdapterOptions, natsAdapter } from './adapter.js';
export type { NatsAdapterStats } from './server-link.js';
