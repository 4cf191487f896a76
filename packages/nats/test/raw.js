/** Connections of the client itself, without Millrace. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { longMs } from './patience.js';

/** A connection that ends with the test. */
export async function rawTo(t, { url }) {
  const connection = await connect({ servers: url.slice('nats://'.length), timeout: longMs });
  t.after(() => connection.close());
  return connection;
}

export const managerOf = (connection) => jetstreamManager(connection, { timeout: longMs });
