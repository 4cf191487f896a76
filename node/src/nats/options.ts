/** The options of a connection to a broker, and the checks that keep bad values out. */
import { check, checkKeys, integer, invalid, number } from '../core/options.js';
import { MillraceError } from '../errors.js';

/** The connection to a NATS server, or to one of a cluster. A `nats://` URL alone stands for `{ servers: URL }`. */
export interface BrokerOptions {
  /** URLs of servers: `nats://host:4222`, or `tls://…`; with `user:password@` or `token@` if wanted. Default port: 4222. */
  servers: string | readonly string[];
  /** Shared by all nodes of one fleet, and by no others: letters, digits, `-` and `_`, 1 to 64 of them. Default: 'millrace'. */
  namespace?: string;
  /** With `password`: the user at the broker. Default: from the URL. */
  user?: string;
  password?: string;
  /** Instead of a user. Default: from the URL. */
  token?: string;
  /** Path of a `.creds` file of NATS: a user's JWT and the seed that signs with it. Default: none. */
  credentials?: string;
  /** Paths of PEM files, for `tls://`: the authority, and this client's own certificate and key. Default: the authorities of Node.js. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** Name of this connection in the broker's monitoring. Default: 'millrace', its purpose, and the process. */
  name?: string;
  /** Bytes that may be under way to the broker: 65,536 to 2^53 - 1. Default: 64 MiB. */
  maxPending?: number;
  /** Time in ms that `ready()` waits for the broker: 1 to 2,147,483,647. Default: 10,000. Attempts go on after it. */
  connectTimeout?: number;
}

/** The same with its defaults. */
export interface BrokerSettings {
  /** `host:port` without credentials: fit for messages. */
  readonly servers: readonly string[];
  readonly isTls: boolean;
  readonly namespace: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  readonly credentials: string | undefined;
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly name: string | undefined;
  readonly maxPending: number;
  readonly connectTimeout: number;
}

const texts = ['user', 'password', 'token', 'credentials', 'name'] as const;
const known = ['servers', 'namespace', 'tls', 'maxPending', 'connectTimeout', ...texts];
const pendingRule = integer(65_536, Number.MAX_SAFE_INTEGER);
const timeRule = number(1, 2_147_483_647);

/** Throws MILLRACE_E_INVALID_OPTION; its messages never show a password. */
export function brokerSettings(given: string | BrokerOptions): BrokerSettings {
  const options = typeof given === 'string' ? { servers: given } : given;
  checkKeys('the options of the broker', options, known);
  const {
    namespace = 'millrace',
    maxPending = 64 * 1024 * 1024,
    connectTimeout = 10_000,
    tls = {},
  } = options;
  if (typeof namespace !== 'string' || !/^[\w-]{1,64}$/.test(namespace)) {
    throw invalid('namespace', namespace, 'of 1 to 64 letters, digits, - and _');
  }
  check('maxPending', maxPending, pendingRule);
  check('connectTimeout', connectTimeout, timeRule);
  for (const name of texts) {
    const value = options[name];
    // Not shown: it may be a password in the wrong place.
    if (value !== undefined && typeof value !== 'string') {
      throw invalid(name, `<${typeof value}>`, 'a string');
    }
  }
  checkKeys('tls', tls, ['ca', 'cert', 'key']);
  for (const [name, path] of Object.entries(tls)) {
    if (typeof path !== 'string') throw invalid(`tls.${name}`, path, 'a path');
  }
  const urls = urlsOf(options.servers);
  const [first] = urls as [URL];
  // A user of the options gets no password from the URL.
  const isNamed = options.user !== undefined || options.token !== undefined;
  const { user, password, token }: Who = isNamed ? {} : whoOf(first);
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port || 4222}`),
    isTls: urls.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0,
    namespace,
    user: options.user ?? user,
    password: options.password ?? password,
    token: options.token ?? token,
    credentials: options.credentials,
    tls,
    name: options.name,
    maxPending,
    connectTimeout,
  };
}

function urlsOf(given: string | readonly string[]): URL[] {
  const texts = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(texts) || texts.length === 0) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      "the broker has no servers; it must be a URL as 'nats://127.0.0.1:4222', or { servers: [URL, …] }",
    );
  }
  return texts.map(urlOf);
}

function urlOf(text: unknown): URL {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  const full = trimmed.includes('://') ? trimmed : `nats://${trimmed}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  const isBroker = url !== null && ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== '';
  if (isBroker && isDecodable(url)) return url;
  throw invalid('servers', shown(text), "a URL as 'nats://127.0.0.1:4222' or 'tls://host:4222'");
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

interface Who {
  user?: string;
  password?: string;
  token?: string;
}

function whoOf({ username, password }: URL): Who {
  if (username === '') return {};
  const first = decodeURIComponent(username);
  if (password === '') return { token: first };
  return { user: first, password: decodeURIComponent(password) };
}
