/**
 * The command `run`: an application with `millrace/auto` and, unless it is not wanted, a dashboard. The command line comes before the
 * application's environment, that before its file, that before the defaults. The dashboard is served by the application itself, but its
 * port is listened on here: a port that is taken is reported before the start, and nobody else gets it until the application has the
 * socket. What the application needs to know is in its environment.
 */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net';
import { hostname } from 'node:os';
import {
  asGiven,
  asValue,
  type Options,
  optionLines,
  print,
  Refusal,
  readOptions,
  UsageError,
} from '@millrace/base/command';
import { nearest } from '@millrace/base/schema';
import type { FeatureName, Settings } from '../auto/feature.cjs';
import { featureNames, switchesOf } from '../auto/settings.cjs';
import {
  applicationArgs,
  configFile,
  HANDED_DOWN,
  type Listening,
  runApplication,
  settingsOf,
} from './application.js';
import { dashboardOptions, defaultPort, isLoopback } from './dashboard/options.js';

const OPTIONS: Options = {
  with: { value: 'NAMES', meaning: 'switches features on: net, guard, stalls' },
  without: { value: 'NAMES', meaning: 'switches features off: ws, fs, dns, reads' },
  config: { value: 'FILE', meaning: 'instead of ./millrace.config.json' },
  port: { value: 'N', meaning: "the dashboard's (7117, or a free one if that is taken)" },
  host: { value: 'ADDRESS', meaning: "the dashboard's (127.0.0.1); others need a token" },
  token: { value: 'TEXT', meaning: 'required by the dashboard (random if one is needed)' },
  'no-dashboard': { meaning: 'serves none' },
};

const USAGE = `Usage: millrace run [options] FILE [arguments of the application]
       millrace run [options] -- [options of Node.js] FILE [arguments]

Starts an unchanged application with millrace/auto, and serves a dashboard. The
address of the dashboard is printed on stderr.

  millrace run app.js
  millrace run --with net,guard app.js --port 3000
  millrace run -- --import tsx app.ts
  millrace run -- --max-old-space-size=512 app.js

${optionLines(OPTIONS)}

Options after FILE belong to the application. Its exit code becomes that of the
command, 128 + n after signal n. Exit codes of the command itself: 1 the
application cannot be started this way, 2 wrong command line.

Without this command, as in production: node --import millrace/auto app.js`;

/** Options of the dashboard on the command line. */
type Wishes = Readonly<Partial<Record<'host' | 'port' | 'token', string>>>;

export async function run(argv: readonly string[]): Promise<void> {
  const given = readOptions(argv, OPTIONS);
  if (given.values.help) return print(USAGE);
  const args = applicationArgs(given);
  const { with: on, without: off, config, ...wishes } = given.values as Record<string, string>;
  const { MILLRACE_FEED, MILLRACE_FEED_TOKEN, MILLRACE_FEED_PID, ...others } = process.env;
  const { MILLRACE_DASHBOARD_FD, ...env } = others;
  const words = [env.MILLRACE ?? '', ...switches(on, off)].filter((word) => word !== '');
  if (given.values['no-dashboard']) words.push('no-dashboard');
  if (words.length > 0) env.MILLRACE = words.join(',');
  if (config !== undefined) env.MILLRACE_CONFIG = configFile(config);
  const settings = settingsOf(env);
  const isWanted = settings.mode !== 'off' && !switchesOf(env).includes('no-dashboard');
  const listening = isWanted ? await placeDashboard(wishes, settings.dashboard, env) : null;
  process.exitCode = await runApplication(args, env, listening);
}

/**
 * Words for MILLRACE.
 *
 * @throws {UsageError} a name is not that of a feature, or is in both lists
 */
function switches(on: string | undefined, off: string | undefined): string[] {
  const wanted = namesIn('--with', on);
  const unwanted = namesIn('--without', off);
  const both = wanted.find((name) => unwanted.includes(name));
  if (both !== undefined) throw new UsageError(`${both} is in both --with and --without.`);
  return [...wanted, ...unwanted.map((name) => `no-${name}`)];
}

function namesIn(option: string, list: string | undefined): string[] {
  const names = list?.split(',').map((name) => name.trim()) ?? [];
  for (const name of names) {
    if (featureNames.includes(name as FeatureName)) continue;
    const meant = nearest(name, featureNames);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new UsageError(
      `${option} has ${JSON.stringify(name)}, which is not a feature.${hint} Features: ${featureNames.join(', ')}.`,
    );
  }
  return names;
}

/**
 * Listens for the dashboard, and puts its place into the application's environment. For an address that others can reach a token is made
 * up if none is given, and printed on stderr.
 *
 * @throws {UsageError} the port is not valid, or the token too short
 * @throws {Refusal} the port is taken, or there is no such address here
 */
async function placeDashboard(
  wishes: Wishes,
  settings: Settings['dashboard'],
  env: NodeJS.ProcessEnv,
): Promise<Listening> {
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
  const listening = await listenOn(host, wanted);
  if (isOpen) tellToken(host, listening.port, token!);
  env.MILLRACE_DASHBOARD = `${bracketed(host)}:${listening.port}`;
  if (token !== undefined) env.MILLRACE_DASHBOARD_TOKEN = token;
  if (listening.fd !== null) env.MILLRACE_DASHBOARD_FD = String(HANDED_DOWN);
  return listening;
}

const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The application says where its dashboard is, but not the token, since that was given to it. */
function tellToken(host: string, port: number, token: string): void {
  const name = ['0.0.0.0', '::'].includes(host) ? hostname() : bracketed(host);
  console.error(`millrace: the dashboard needs a token: http://${name}:${port}/?token=${token}`);
}

/** Listens on the wanted port; if none is wanted, on the usual one if it is free, or on any that is free. */
async function listenOn(host: string, wanted: number | undefined): Promise<Listening> {
  try {
    return await listen(host, wanted ?? defaultPort);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') {
      throw new Refusal(`the dashboard cannot listen on ${host}: ${message}.`);
    }
    if (wanted === undefined) return listen(host, 0);
    throw new Refusal(`port ${wanted} of ${host} is taken; without --port a free one is chosen.`);
  }
}

function listen(host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const { port: bound } = server.address() as AddressInfo;
      // Node.js has no other way to a socket's descriptor.
      const { _handle: handle } = server as Server & { _handle?: { fd?: number } };
      const fd = handle?.fd ?? -1;
      resolve({ port: bound, fd: fd < 0 ? null : fd, close: () => server.close() });
    });
  });
}
