/**
 * JetStream, as far as the store and durable tasks use it alike: the streams of a connection, a stream that is found or created, and
 * the subject to which a message of a stream is acknowledged, which says what the broker knows of its delivery.
 */
import { sleep } from '@millrace/base/timers';
import type {
  JetStreamClient,
  JetStreamManager,
  NatsConnection,
  StreamConfig,
  StreamInfo,
} from './client-types.js';
import { failure, missingClient } from './connect.js';

/** JetStream of a connection. */
export interface Streams {
  js: JetStreamClient;
  jsm: JetStreamManager;
}

/** Codes of the API if JetStream is not enabled, for the account or at all. */
const offCodes = [10039, 10076];

/** Rejects with MILLRACE_E_BROKER when there is no JetStream, or no answer. */
export async function openJetStream(connection: NatsConnection, address: string): Promise<Streams> {
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream').catch((error) => {
    throw missingClient(error);
  });
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

/** Reports whether an error only says that the broker has not answered in time; it has the client's error as its cause. */
export const isLate = (error: unknown): boolean =>
  (error as { cause?: Error }).cause?.name === 'TimeoutError';

const streamNotFound = 10059;

/** The stream; null if there is none. Rejects with what the broker says. */
export async function findStream(jsm: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if ((error as { code?: number }).code === streamNotFound) return null;
    throw error;
  }
}

/** Creates a stream that was not there; another node may do so at the same moment. Rejects with what the broker says. */
export async function createStream(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  try {
    return await jsm.streams.add(config);
  } catch (error) {
    for (let tries = 0; tries < 5; tries++) {
      const made = await findStream(jsm, config.name).catch(() => null);
      if (made !== null) return made;
      await sleep(50);
    }
    throw error;
  }
}

/** A delivery of a message to a consumer. */
export interface Delivery {
  /** Tells the message from all others of its stream, also from those of an earlier stream of that name. */
  readonly key: string;
  /** Deliveries so far, this one included. */
  readonly count: number;
  /** Number of the message in its stream, and that of the delivery at its consumer. */
  readonly stored: number;
  readonly delivered: number;
  /** Messages behind it. */
  readonly pending: number;
}

/** Of `$JS.ACK.[domain.account.]stream.consumer.count.stored.delivered.time.pending`; null for anything else. */
export function deliveryOf(reply: string | undefined): Delivery | null {
  const tokens = reply?.split('.') ?? [];
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return null;
  const from = tokens.length === 9 ? 4 : 6;
  const at = (index: number) => Number(tokens[from + index]);
  const [count, stored, delivered, pending] = [at(0), at(1), at(2), at(4)];
  if (!Number.isInteger(count)) return null;
  // As texts: the time has more digits than a number.
  return { key: `${tokens[from + 1]}.${tokens[from + 3]}`, count, stored, delivered, pending };
}
