/**
 * Building blocks of adapters for socket.io between several servers, such as `natsAdapter()` of @millrace/nats/socket-io.
 *
 * @module ws/socket-io
 */
export { adapterBase } from './adapter.js';
