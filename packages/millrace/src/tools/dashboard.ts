/** Address and access token of an application's dashboard: a socket that listens, and variables of its environment. */
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { asGiven, asValue, UsageError } from '@millrace/base/command';
import type { Settings } from '../auto/feature.cjs';
import { HANDED_DOWN } from './child.js';
import { dashboardOptions, defaultPort, isLoopback } from './dashboard/options.js';
import { type Listening, listenOn } from './port.js';

/** What the command line says. */
interface Wishes {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly token: string | undefined;
}

export interface Place {
  readonly env: NodeJS.ProcessEnv;
  /** For `runNode()`, which hands it to the application. */
  readonly listening: Listening;
}

/**
 * The place and the variables to set: as the command line says, or the application's environment and file, or by default. For an address
 * that others can reach a token is made up if none is given, and printed on stderr.
 *
 * @throws {UsageError} the port is not valid, or the token too short
 * @throws {Refusal} the port is taken, or there is no such address here
 */
export async function dashboardPlace(
  wishes: Wishes,
  settings: Settings['dashboard'],
  env: NodeJS.ProcessEnv,
): Promise<Place> {
  const set = settings || { host: '127.0.0.1', port: defaultPort, token: null };
  const host = wishes.host ?? set.host;
  const port = wishes.port === undefined ? undefined : (asValue(wishes.port) as number);
  const given = wishes.token ?? set.token ?? env.MILLRACE_DASHBOARD_TOKEN;
  const isOpen = !given && !isLoopback(host);
  const token = isOpen ? randomBytes(18).toString('base64url') : given || undefined;
  try {
    dashboardOptions({ host, token, ...(port !== undefined && { port }) });
  } catch (error) {
    throw new UsageError(`${asGiven((error as Error).message)}.`);
  }
  const wanted = port ?? (set.port === defaultPort ? undefined : set.port);
  const listening = await listenOn(host, wanted, defaultPort);
  const { fd } = listening;
  if (isOpen) tellToken(host, listening.port, token!);
  return {
    listening,
    env: {
      MILLRACE_DASHBOARD: `${nameOf(host)}:${listening.port}`,
      ...(token === undefined ? {} : { MILLRACE_DASHBOARD_TOKEN: token }),
      ...(fd !== null && { MILLRACE_DASHBOARD_FD: String(HANDED_DOWN) }),
    },
  };
}

const nameOf = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The application says where its dashboard is, but not the token, since that was given to it. */
function tellToken(host: string, port: number, token: string): void {
  const name = ['0.0.0.0', '::'].includes(host) ? hostname() : nameOf(host);
  console.error(`millrace: the dashboard needs a token: http://${name}:${port}/?token=${token}`);
}
