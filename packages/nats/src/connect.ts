/**
 * Attempt to connect, with the client library, which is loaded when the first broker is asked for. And what is wrong with a broker,
 * in a sentence that says the way out: an error is lasting where another attempt would not help soon. Its messages never show a
 * password.
 */
import { readFileSync } from 'node:fs';
import { MillraceError, show } from '@millrace/base/errors';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type { BrokerSettings } from './options.js';

export type Client = typeof import('@nats-io/transport-node');

/** Throws MILLRACE_E_BROKER when the packages are not installed. */
export async function loadClient(): Promise<Client> {
  return await import('@nats-io/transport-node').catch((error: unknown) => {
    throw missingClient(error);
  });
}

const attemptMs = 2000;
/** A broker that has stopped answering is given up after two of these. */
const pingMs = 2000;
const leastDelayMs = 100;
const mostDelayMs = 2000;
const growth = 1.5;

/**
 * Returns the wait in ms after `attempts` failures, from 1 on: growing, and half of it random, so that a fleet does not
 * reconnect all at once.
 */
export function backOffMs(attempts: number): number {
  const full = Math.min(mostDelayMs, leastDelayMs * growth ** (attempts - 1));
  return full / 2 + (Math.random() * full) / 2;
}

/** Opens a connection, which then comes back by itself whenever it is lost. Rejects with what the client says. */
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

/** The oldest NATS server with everything that is used here. */
export const oldest = { major: 2, minor: 9 };

export function failure(message: string, cause?: unknown): MillraceError {
  return new MillraceError('MILLRACE_E_BROKER', message, cause === undefined ? {} : { cause });
}

/** Errors for which a retry would not help soon. */
const lasting = new WeakSet<MillraceError>();

export const isLasting = (error: MillraceError): boolean => lasting.has(error);

function lastingFailure(message: string, cause?: unknown): MillraceError {
  const error = failure(message, cause);
  lasting.add(error);
  return error;
}

export function missingClient(cause: unknown): MillraceError {
  return lastingFailure(
    'a broker needs the packages @nats-io/transport-node and @nats-io/jetstream; install them: npm install @nats-io/transport-node @nats-io/jetstream',
    cause,
  );
}

export function tooOld(version: string, settings: BrokerSettings): MillraceError {
  return lastingFailure(
    `the broker at ${where(settings)} is nats-server ${version}; it must be ${oldest.major}.${oldest.minor} or later`,
  );
}

export function tooLarge(bytes: number, most: number, more = ''): MillraceError {
  const what = more === '' ? `${bytes} bytes is` : `${bytes} bytes ${more} are`;
  return new MillraceError(
    'MILLRACE_E_TOO_LARGE',
    `a message of ${what} above the broker's limit of ${most}; send less at once, or raise max_payload of nats-server`,
  );
}

/** Error of the client for "Permissions Violation". */
interface Denial extends Error {
  operation: 'publish' | 'subscription';
  subject: string;
}

export const isDenial = (error: Error): error is Denial =>
  error.name === 'PermissionViolationError';

export function denied(error: Error, settings: BrokerSettings): MillraceError {
  const { operation, subject } = error as Denial;
  const act = operation === 'publish' ? 'publish on' : 'subscribe to';
  return failure(
    `the broker at ${where(settings)} does not permit this user to ${act} ${show(subject)}; allow it in the permissions of the NATS server`,
    error,
  );
}

/** Describes why there is no connection. */
export function describe(error: unknown, settings: BrokerSettings): MillraceError {
  const { name, message, code, cause } = error as Error & { code?: string };
  const inner = cause as (Error & { code?: string }) | undefined;
  const at = where(settings);
  if (name === 'AuthorizationError' || name === 'UserAuthenticationExpiredError') {
    return lastingFailure(
      `the broker at ${at} refuses the credentials (${message}); check user and password, token or credentials`,
      error,
    );
  }
  if (code === 'ENOENT' || inner?.code === 'ENOENT' || message.endsWith("doesn't exist")) {
    return lastingFailure(`a file for the connection to the broker is missing: ${message}`, error);
  }
  if (/CERT|SIGNATURE/.test(`${code} ${inner?.code}`)) {
    const why = inner?.message ?? message;
    return lastingFailure(
      `the certificate of the broker at ${at} is not trusted (${why}); set tls.ca to the file of its authority`,
      error,
    );
  }
  if (/refused/i.test(message) || code === 'ECONNREFUSED' || inner?.code === 'ECONNREFUSED') {
    return failure(
      `no broker answers at ${at}; start nats-server there, or correct the URL`,
      error,
    );
  }
  if (name === 'TimeoutError') {
    // A client without the required certificate is not told so.
    const what = settings.isTls
      ? 'a NATS server, and does it take this certificate'
      : 'a NATS server';
    return failure(`the broker at ${at} does not answer in time; is it ${what}?`, error);
  }
  return failure(`no connection to the broker at ${at}: ${inner?.message ?? message}`, error);
}

export const where = ({ servers }: BrokerSettings): string => servers.join(', ');
