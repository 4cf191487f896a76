/**
 * What adapters for socket.io between several servers are built on, as `natsAdapter()` of @millrace/nats/socket-io is.
 *
 * @module ws/socket-io
 */
export { adapterBase } from './adapter.js';
