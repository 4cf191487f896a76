import { BlockList, isIP } from 'node:net';
import { MillraceError, show } from '../errors.js';

import type { Shown } from './sampler.js';

/** The port of the dashboard unless another is given. */
export const defaultPort = 7117;
/** A shorter token can be guessed. */
const shortestToken = 8;
/** As many as Linux allows a process unless told otherwise. */
const mostFd = 1_048_575;

/** Where and to whom the dashboard is served, and what it shows beside the metrics. */
export interface DashboardOptions extends Shown {
  /** Address to listen on, default 127.0.0.1. An address that others can reach needs a token. */
  readonly host?: string;
  /** Port to listen on: a number, default 7117, 0 (any free one) to 65535. */
  readonly port?: number;
  /** Token of browsers and clients, at least 8 characters. Default none, on loopback only. */
  readonly token?: string | null | undefined;
  /** File descriptor of a socket that listens already, inherited from the parent process: a number, 0 to 1048575. Replaces `host` and `port`. Default none. */
  readonly fd?: number | undefined;
  /** Token of the processes that feed it. Default: random. */
  readonly feedToken?: string | undefined;
}

/** Which dashboard shows this process, and what beside its metrics. */
export interface FeedOptions extends Shown {
  /** Where the dashboard is served; default 127.0.0.1. */
  readonly host?: string;
  /** Port of the dashboard: a number from 1 to 65535. There is no default. */
  readonly port: number;
  /** The `feedToken` of the dashboard. */
  readonly token: string;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a name or address can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** Throws `MILLRACE_E_INVALID_OPTION` for an impossible address, or one that would be open to everybody. */
export function checkAddress({
  host = '127.0.0.1',
  port = defaultPort,
  token = null,
  fd,
}: DashboardOptions) {
  if (typeof host !== 'string' || host === '') invalid('host', 'the address to listen on', host);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    invalid('port', 'a whole number from 0 to 65535', port);
  }
  if (fd !== undefined && (!Number.isInteger(fd) || fd < 0 || fd > mostFd)) {
    invalid('fd', 'a file descriptor, a whole number from 0 to 1048575', fd);
  }
  if (token !== null && (typeof token !== 'string' || token.length < shortestToken)) {
    // Not shown: it does not belong in a log.
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `token must be text of at least ${shortestToken} characters`,
    );
  }
  if (token === null && !isLoopback(host)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `the dashboard on ${host} needs a token, as others can reach that address: set MILLRACE_DASHBOARD_TOKEN (at least ${shortestToken} characters), or use 127.0.0.1`,
    );
  }
  return { host, port, token };
}

function invalid(name: string, wanted: string, value: unknown): never {
  throw new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `${name} must be ${wanted}, not ${show(value)}`,
  );
}
