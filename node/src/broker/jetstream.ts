/** The streams of a broker. */
import type { JetStreamClient, JetStreamManager, NatsConnection } from './client-types.js';
import { loadJetStream } from './connect.js';
import { failure } from './failure.js';

export interface Streams {
  js: JetStreamClient;
  jsm: JetStreamManager;
}

/** Of the API: JetStream is not enabled, for the account or at all. */
const offCodes = [10039, 10076];

/** Rejects with MILLRACE_E_BROKER when there is no JetStream, or no answer. */
export async function openStreams(connection: NatsConnection, address: string): Promise<Streams> {
  const { jetstream, jetstreamManager } = await loadJetStream();
  try {
    return { js: jetstream(connection), jsm: await jetstreamManager(connection) };
  } catch (error) {
    const { name, message, code } = error as Error & { code?: number };
    const isOff = name === 'JetStreamNotEnabled' || offCodes.includes(code ?? 0);
    const why = isOff
      ? 'has no JetStream; start nats-server with -js, or allow it for this account'
      : `does not tell of its streams: ${message}`;
    throw failure(`the broker at ${address} ${why}`, error);
  }
}
