/** Types of a connection to a broker for users: its options and its counters. They need no types of its client's packages. */

import { parse, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

/** Options of the connection to a NATS server, or to one of a cluster. A `nats://` URL alone stands for `{ servers: URL }`. */
export interface BrokerOptions {
  /** URLs of servers: `nats://host:4222`, or `tls://…`; with `user:password@` or `token@` if wanted. Default port: 4222. */
  servers: string | readonly string[];
  /**
   * Name that all nodes of one fleet share, and no others: letters, digits, `-` and `_`, 1 to 64 of them. Default:
   * 'millrace'.
   */
  namespace?: string;
  /** User at the broker, with `password`. Default: from the URL. */
  user?: string;
  password?: string;
  /** Token instead of a user. Default: from the URL. */
  token?: string;
  /** Path of a `.creds` file of NATS: a user's JWT and the seed that signs with it. Default: none. */
  credentials?: string;
  /** Paths of PEM files, for `tls://`: the authority, and this client's own certificate and key. Default: the authorities of Node.js. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** Name of this connection in the broker's monitoring. Default: 'millrace', its purpose, and the process. */
  name?: string;
  /** Bytes that may be pending to the broker: 65,536 to 2^53 - 1. Default: 64 MiB. */
  maxPending?: number;
  /** Time in ms that `ready()` waits for the broker: 1 to 2,147,483,647. Default: 10,000. Attempts go on after it. */
  connectTimeout?: number;
}

/** Limits of the time that a turn waits, so that what further turns bring leaves with it. It is held as the policy `adaptive` holds a batch. */
export interface HoldOptions {
  /** Longest wait in ms of messages to other nodes: 0 to 60,000, default 0: those of a turn leave at its end. */
  maxDelay: number;
  /** Share of a core that each ms of waiting has to save: 0 to 1, default 0.005. */
  minSaving: number;
}

export const holdFields = {
  maxDelay: is.ms(0, 60_000, 0),
  minSaving: is.number(0, 1, 0.005),
} satisfies is.FieldsOf<HoldOptions>;

const what = 'broker';
// It may be a password in the wrong place.
const hidden = is.secret(is.text());
const path = is.text('a path');

export const brokerSchema = is.schema({
  // Not before all else is known to be right: its messages must show no password.
  servers: is.anything(),
  namespace: is.or(
    is.text('of 1 to 64 letters, digits, - and _', (name) => /^[\w-]{1,64}$/.test(name)),
    'millrace',
  ),
  user: hidden,
  password: hidden,
  token: hidden,
  credentials: hidden,
  tls: is.partial(is.schema({ ca: path, cert: path, key: path })),
  name: hidden,
  maxPending: is.bytes(65_536, Number.MAX_SAFE_INTEGER, 64 * 1024 * 1024),
  connectTimeout: is.ms(1, 2_147_483_647, 10_000),
} satisfies is.FieldsOf<BrokerOptions>);

/** The option `broker` of others. What it holds is read by {@link brokerSettings}. */
export const brokerField = is.required(
  is.custom<string | BrokerOptions>(
    "a URL as 'nats://127.0.0.1:4222', or an object",
    (value) => typeof value === 'string' || is.isObject(value),
  ),
);

/** Throws MILLRACE_E_INVALID_OPTION; its messages never show a password. */
export function brokerSettings(given: string | BrokerOptions) {
  const options = parse(what, typeof given === 'string' ? { servers: given } : given, brokerSchema);
  const { namespace, credentials, name, maxPending, connectTimeout, tls = {} } = options;
  const urls = urlsOf(options.servers);
  const [first] = urls as [URL];
  // A user of the options gets no password from the URL.
  const isNamed = options.user !== undefined || options.token !== undefined;
  const { user, password, token }: Who = isNamed ? {} : whoOf(first);
  return {
    // Without credentials: fit for messages.
    servers: urls.map((url) => `${url.hostname}:${url.port || 4222}`),
    isTls: urls.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0,
    // In this order, whatever that of the options is: it tells connections apart.
    namespace,
    user: options.user ?? user,
    password: options.password ?? password,
    token: options.token ?? token,
    ...{ credentials, tls, name, maxPending, connectTimeout },
  };
}

/** Settings with their defaults. */
export type BrokerSettings = ReturnType<typeof brokerSettings>;

function urlsOf(given: string | readonly string[] | undefined): URL[] {
  const texts = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(texts) || texts.length === 0) {
    throw refused(what, 'servers', texts, "a URL as 'nats://127.0.0.1:4222', or an array of them");
  }
  return texts.map(urlOf);
}

function urlOf(text: unknown): URL {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  const full = trimmed.includes('://') ? trimmed : `nats://${trimmed}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  const isBroker = url !== null && ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== '';
  if (isBroker && isDecodable(url)) return url;
  throw refused(
    what,
    'servers',
    shown(text),
    "a URL as 'nats://127.0.0.1:4222' or 'tls://host:4222'",
  );
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** A URL without what comes before its last `@`. */
const shown = (text: unknown) =>
  typeof text === 'string' ? text.replace(/^(.*:\/\/)?.*@/s, '$1…@') : text;

type Who = Pick<BrokerOptions, 'user' | 'password' | 'token'>;

function whoOf({ username, password }: URL): Who {
  if (username === '') return {};
  const first = decodeURIComponent(username);
  if (password === '') return { token: first };
  return { user: first, password: decodeURIComponent(password) };
}

/** State of a connection. `up`: connected. `down`: it was connected, and reconnects by itself. */
export type LinkState = 'connecting' | 'up' | 'down' | 'closed';

/** Counters of a connection to the broker. */
export interface LinkStats {
  state: LinkState;
  /** NATS messages and their bytes, sent and received. Messages that the broker then denies count as sent. */
  sent: number;
  sentBytes: number;
  received: number;
  receivedBytes: number;
  /** Messages not sent: the broker was away, or `maxPending` bytes were pending. */
  unsent: { away: number; full: number };
  /** Bytes that the broker has not confirmed; to the nearest 256 KiB. */
  pendingBytes: number;
  /** Denials by the broker's permissions: messages not passed on, and subjects not subscribed. */
  denied: { publish: number; subscribe: number };
  /** Reconnections. */
  reconnects: number;
}
