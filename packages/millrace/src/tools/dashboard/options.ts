import { BlockList, isIP } from 'node:net';
import { parse, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import type { Shown } from './sample.js';

/** Default port of the dashboard. */
export const defaultPort = 7117;
/** Least length of a token; a shorter one can be guessed. */
const shortestToken = 8;
/** Largest descriptor: Linux's default limit per process. */
const mostFd = 1_048_575;

/** Address and port for `startDashboard()`. */
export interface DashboardAddress {
  /** Address to listen on, default 127.0.0.1. A reachable address needs a token. */
  readonly host?: string;
  /** Port to listen on: a number, default 7117, 0 (any free one) to 65535. */
  readonly port?: number;
  /** Token of browsers and clients, at least 8 characters. Default none, on loopback only. */
  readonly token?: string | null | undefined;
  /** File descriptor of a socket that listens already, inherited from the parent process: a number, 0 to 1048575. Replaces `host` and `port`. Default none. */
  readonly fd?: number | undefined;
}

/** Options of the dashboard: its address and tokens, and additional content beside the metrics. */
export interface DashboardOptions extends Shown, DashboardAddress {
  /** Token of the processes that feed it. Default: random. */
  readonly feedToken?: string | undefined;
}

/** Options of a feed: the dashboard that shows this process, and additional content beside its metrics. */
export interface FeedOptions extends Shown {
  /** Host of the dashboard; default 127.0.0.1. */
  readonly host?: string;
  /** Port of the dashboard: a number from 1 to 65535. There is no default. */
  readonly port: number;
  /** The `feedToken` of the dashboard. */
  readonly token: string;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Reports whether a name or address can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

const host = is.or(
  is.text('the address to listen on', (value) => value !== ''),
  '127.0.0.1',
);
const token = is.secret(
  is.text(
    `a text of at least ${shortestToken} characters`,
    ({ length }) => length >= shortestToken,
  ),
);
const shown = {
  features: is.anything<NonNullable<Shown['features']>>(),
  report: is.anything<NonNullable<Shown['report']>>(),
} satisfies is.FieldsOf<Shown>;

export const dashboardSchema = is.schema({
  ...shown,
  host,
  port: is.integer(0, 65_535, defaultPort),
  token: is.secret(is.or(is.either(token, is.choice([null])), null)),
  fd: is.integer(0, mostFd),
  feedToken: is.secret(is.text()),
} satisfies is.FieldsOf<DashboardOptions>);

export const feedSchema = is.schema({
  ...shown,
  host,
  port: is.required(is.integer(1, 65_535)),
  token: is.required(is.secret(is.text())),
} satisfies is.FieldsOf<FeedOptions>);

/** Throws `MILLRACE_E_INVALID_OPTION` for an impossible address, or one that would be open to everybody; `what` begins the message. */
export function dashboardOptions(given: DashboardOptions, what = 'serveDashboard()') {
  const options = parse(what, given, dashboardSchema);
  const { host, token } = options;
  if (token !== null || isLoopback(host)) return options;
  const why = `given for ${host}, which others can reach: set MILLRACE_DASHBOARD_TOKEN (at least ${shortestToken} characters), or use 127.0.0.1`;
  throw refused(what, 'token', token, why);
}
