/** What `millrace/auto` calls: this process serves the dashboard, or feeds the one of the process that started it. */
import cluster from 'node:cluster';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { installed } from '@millrace/base/installed';
import { thisPackage } from '../../package.cjs';
import { type DashboardFeed, feedDashboard } from './feed.js';
import { defaultPort, isLoopback } from './options.js';
import type { Shown } from './sampler.js';
import { type Dashboard, serveDashboard } from './serve.js';

const pool = installed({ ...thisPackage, name: '@millrace/pool' });
const poolProgram = pool.folder === null ? null : join(pool.folder, 'dist/worker/main.cjs');

/** Where `startDashboard()` serves. */
export interface DashboardAddress {
  /** Address to listen on, default 127.0.0.1. An address that others can reach needs a token. */
  readonly host?: string;
  /** Port to listen on: a number, default 7117, 0 (any free one) to 65535. */
  readonly port?: number;
  /** Token of browsers and clients, at least 8 characters. Default none, on loopback only. */
  readonly token?: string | null | undefined;
  /** File descriptor of a socket that listens already, inherited from the parent process: a number, 0 to 1048575. Replaces `host` and `port`. Default none. */
  readonly fd?: number | undefined;
}

/**
 * Serves in the first process of a tree and feeds in all others, which find the way in `MILLRACE_FEED`, `MILLRACE_FEED_TOKEN` and
 * `MILLRACE_FEED_PID` of their environment. Never rejects: one sentence on stderr says the address, or why there is no
 * dashboard, and the application goes on. Threads of a `Pool` are left out: the pool itself reports on them.
 */
export async function startDashboard(
  address: DashboardAddress,
  shown: Shown = {},
): Promise<Dashboard | DashboardFeed | null> {
  if (!isMainThread && process.argv[1] === poolProgram) return null;
  const { MILLRACE_FEED: feed, MILLRACE_FEED_TOKEN: token = '', MILLRACE_FEED_PID } = process.env;
  const isOurs = isMainThread && MILLRACE_FEED_PID === String(process.pid);
  if (feed !== undefined && !isOurs) return feedTo(feed, token, shown);
  // Nothing has told it where to: its parent runs without a dashboard, or gave it another environment.
  if (!isMainThread || cluster.isWorker) return null;
  try {
    const feedToken = isOurs && token !== '' ? token : undefined;
    const dashboard = await serveDashboard({ ...address, ...shown, feedToken });
    process.env.MILLRACE_FEED = feedAddress(address.host, dashboard.port);
    process.env.MILLRACE_FEED_TOKEN = dashboard.feedToken;
    process.env.MILLRACE_FEED_PID = String(process.pid);
    process.stderr.write(`millrace: the dashboard is at ${dashboard.url}\n`);
    return dashboard;
  } catch (error) {
    // Children must not connect to whoever has the port.
    for (const name of ['', '_TOKEN', '_PID']) delete process.env[`MILLRACE_FEED${name}`];
    process.stderr.write(`millrace: no dashboard: ${reason(error, address)}\n`);
    return null;
  }
}

function feedTo(address: string, token: string, shown: Shown): DashboardFeed | null {
  const [, host, port] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(port) > 65_535) return null;
  return feedDashboard({ host, port: Number(port), token, ...shown });
}

/** Children are on this machine. An address that means all of them cannot be connected to everywhere. */
function feedAddress(host = '127.0.0.1', port: number): string {
  if (host === '0.0.0.0' || host === '::' || host === 'localhost') return `127.0.0.1:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function reason(error: unknown, { host = '127.0.0.1', port = defaultPort }: DashboardAddress) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return `port ${port} is taken; set MILLRACE_DASHBOARD=${isLoopback(host) ? host : '127.0.0.1'}:0 for a free one`;
  }
  return message;
}
