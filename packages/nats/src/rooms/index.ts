/**
 * Rooms of WebSockets across machines, through a NATS server.
 *
 * @module nats/rooms
 */
export type { BrokerOptions, LinkState, LinkStats } from '../options.js';
export type { DurableStats, StreamLimits } from '../store/store.js';
export { type NatsRoomsOptions, type NatsRoomsStats, natsRooms } from './rooms.js';
