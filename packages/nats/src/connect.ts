/** The client library, loaded when the first broker is asked for, and one attempt to connect. */
import { readFileSync } from 'node:fs';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { missingClient } from './failure.js';
import type { BrokerSettings } from './options.js';

export type Client = typeof import('@nats-io/transport-node');
type JetStreamClient = typeof import('@nats-io/jetstream');

/** Throws MILLRACE_E_BROKER when the packages are not installed. */
export async function loadClient(): Promise<Client> {
  return await import('@nats-io/transport-node').catch((error: unknown) => {
    throw missingClient(error);
  });
}

/** The same for streams. */
export async function loadJetStream(): Promise<JetStreamClient> {
  return await import('@nats-io/jetstream').catch((error: unknown) => {
    throw missingClient(error);
  });
}

const attemptMs = 2000;
/** A broker that has stopped answering is given up after two of these. */
const pingMs = 2000;
const leastDelayMs = 100;
const mostDelayMs = 2000;
const growth = 1.5;

/** How long to wait after `attempts` that failed, from 1 on: growing, and half of it random, so that a fleet does not come back all at once. */
export function backOffMs(attempts: number): number {
  const full = Math.min(mostDelayMs, leastDelayMs * growth ** (attempts - 1));
  return full / 2 + (Math.random() * full) / 2;
}

/** One connection, which then comes back by itself whenever it is lost. Rejects with what the client says. */
export async function connect(settings: BrokerSettings, name: string): Promise<NatsConnection> {
  const client = await loadClient();
  let attempts = 0;
  let delayMs = backOffMs(1);
  const options: NodeConnectionOptions = {
    servers: [...settings.servers],
    name,
    // What a node sends never comes back to it.
    noEcho: true,
    timeout: attemptMs,
    pingInterval: pingMs,
    maxPingOut: 2,
    reconnect: true,
    maxReconnectAttempts: -1,
    // Credentials that are refused now may be right after the broker's next reload.
    ignoreAuthErrorAbort: true,
    // Asked again and again between two attempts.
    reconnectDelayHandler: () => delayMs,
    ...(settings.isTls && { tls: tlsOf(settings) }),
    ...whoIs(client, settings),
  };
  const connection = await client.connect(options);
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') attempts = 0;
      if (type === 'reconnect' || type === 'reconnecting') delayMs = backOffMs(++attempts);
    }
  })();
  return connection;
}

function tlsOf({ tls }: BrokerSettings): NonNullable<NodeConnectionOptions['tls']> {
  return {
    ...(tls.ca !== undefined && { caFile: tls.ca }),
    ...(tls.cert !== undefined && { certFile: tls.cert }),
    ...(tls.key !== undefined && { keyFile: tls.key }),
  };
}

function whoIs(
  client: Client,
  { user, password, token, credentials }: BrokerSettings,
): Partial<NodeConnectionOptions> {
  if (credentials !== undefined) {
    // Read for each attempt: credentials that expire are renewed in the file.
    return { authenticator: client.credsAuthenticator(() => readFileSync(credentials)) };
  }
  if (token !== undefined) return { token };
  if (user === undefined) return {};
  return { user, pass: password ?? '' };
}
