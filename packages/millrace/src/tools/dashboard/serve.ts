/**
 * Server of a dashboard. `serveDashboard()` serves the page, and takes feeds of other processes on the same port.
 * `startDashboard()` is called by `millrace/auto`: the first process of a tree serves, all others feed it. They find it by their
 * environment: MILLRACE_FEED, MILLRACE_FEED_TOKEN, and MILLRACE_FEED_PID, the process that serves.
 */
import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { installed } from '@millrace/base/installed';
import { uncounted } from '@millrace/monitor';
import { markOwn } from '../../auto/sockets.cjs';
import { thisPackage } from '../../package.cjs';
import { bearer, RateLimit, sameToken } from './access.js';
import { type DashboardFeed, Feed, feedDashboard, protocol } from './feed.js';
import { Hub, mostMembers } from './hub.js';
import {
  type DashboardAddress,
  type DashboardOptions,
  dashboardOptions,
  defaultPort,
  isLoopback,
} from './options.js';
import { handle, pageFiles } from './routes.js';
import { Sampler, type Shown, thisProcess } from './sample.js';

/** Time in ms that a client may take to send its request. */
const patienceMs = 10_000;

const pool = installed({ ...thisPackage, name: '@millrace/pool' });
const poolProgram = pool.folder === null ? null : join(pool.folder, 'dist/worker/main.cjs');

/** Running dashboard. */
export interface Dashboard {
  /** Address of the page. With a token, add `?token=…` to it once. */
  readonly url: string;
  /** Port that it listens on, also if 0 was requested. */
  readonly port: number;
  /** Token of the processes that feed it. */
  readonly feedToken: string;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard of this process and of the processes that feed it. Keeps nothing alive. Samples nothing until the page
 * is open; then each process once a second.
 *
 * Rejects with `MILLRACE_E_INVALID_OPTION` when an option is wrong or a reachable address has no token, and with the error of
 * `listen()`: `EADDRINUSE` when the port is in use; with `MILLRACE_E_BUNDLED` in a bundle that finds no installed package.
 */
export async function serveDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  const { host, port: wanted, token, ...others } = dashboardOptions(options);
  pageFiles();
  const { fd, feedToken = randomBytes(16).toString('hex') } = others;
  const hub = new Hub();
  const connections = new Connections(mostMembers + 100);
  const attempts = new RateLimit();
  let port = wanted;
  // A client that connects and sends nothing, or sends slowly, must not keep others out.
  const server = markOwn(
    createServer({
      keepAliveTimeout: 30_000,
      headersTimeout: patienceMs,
      requestTimeout: patienceMs,
      connectionsCheckingInterval: patienceMs,
    }),
  ).unref();
  // Users want to see their application there.
  uncounted(server);
  server.on('connection', (socket: Socket) => {
    markOwn(socket).unref();
    connections.add(socket);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    connections.heard(socket);
    response.on('close', () => connections.answered(socket));
    // A client left while it sent its body.
    handle({ hub, port, token, attempts }, request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {});
    connections.heard(socket);
    const isFeed = request.url === '/feed' && request.headers.upgrade === protocol;
    if (!isFeed || !sameToken(bearer(request), feedToken)) {
      socket.end(
        `HTTP/1.1 ${isFeed ? '401 Unauthorized' : '404 Not Found'}\r\nConnection: close\r\n\r\n`,
      );
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
    );
    new Feed(socket, hub);
    if (head.length > 0) socket.unshift(head);
  });
  // A worker of node:cluster has a server of its own as well.
  server.listen(fd === undefined ? { host, port: wanted, exclusive: true } : { fd });
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);

  const sampler = new Sampler(thisProcess('main'), options);
  hub.join(sampler.process, sampler.features(), {
    sample: async () => sampler.sample(),
    switch: async (feature, on) => sampler.switch(feature, on),
    dropped: 0,
    close() {},
  });
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}/`,
    port,
    feedToken,
    close: () =>
      new Promise((resolve) => {
        hub.close();
        server.close(() => resolve());
        connections.closeAll();
      }),
  };
}

/** Connections of the server: a limited number, of which a silent one makes room for a new one. */
class Connections {
  readonly #most: number;
  readonly #all = new Set<Socket>();
  /** Connections without a request, the ones silent for longest first. */
  readonly #silent = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    this.#all.add(socket);
    this.#silent.add(socket);
    socket.on('close', () => {
      this.#all.delete(socket);
      this.#silent.delete(socket);
    });
    // If all others are in use, the newest itself gives way.
    if (this.#all.size > this.#most) this.#end(this.#silent.values().next().value!);
  }

  /** Records a request or an upgrade. */
  heard(socket: Socket): void {
    this.#silent.delete(socket);
  }

  /** Records that a request has been answered, and the connection waits for another. */
  answered(socket: Socket): void {
    if (this.#all.has(socket)) this.#silent.add(socket);
  }

  closeAll(): void {
    for (const socket of this.#all) this.#end(socket);
  }

  /** Ends a connection; its place is free at once, before it is closed. */
  #end(socket: Socket): void {
    this.#all.delete(socket);
    this.#silent.delete(socket);
    socket.destroy();
  }
}

/**
 * Serves in the first process of a tree and feeds in all others, which find the dashboard by `MILLRACE_FEED`,
 * `MILLRACE_FEED_TOKEN` and `MILLRACE_FEED_PID` of their environment. Never rejects: one sentence on stderr says the address,
 * or the reason why there is no dashboard. Threads of a `Pool` are left out: the pool itself reports on them.
 */
export async function startDashboard(
  address: DashboardAddress,
  shown: Shown = {},
): Promise<Dashboard | DashboardFeed | null> {
  if (!isMainThread && process.argv[1] === poolProgram) return null;
  const { MILLRACE_FEED: feed, MILLRACE_FEED_TOKEN: token = '', MILLRACE_FEED_PID } = process.env;
  const isOurs = isMainThread && MILLRACE_FEED_PID === String(process.pid);
  if (feed !== undefined && !isOurs) return feedTo(feed, token, shown);
  // It has no address to feed: its parent runs without a dashboard, or gave it another environment.
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
    // Children must not connect to another owner of the port.
    for (const name of ['', '_TOKEN', '_PID']) delete process.env[`MILLRACE_FEED${name}`];
    process.stderr.write(`millrace: no dashboard: ${reason(error, address)}\n`);
    return null;
  }
}

function feedTo(address: string, token: string, shown: Shown): DashboardFeed | null {
  const [, host, port] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(port) === 0 || Number(port) > 65_535) return null;
  return feedDashboard({ host, port: Number(port), token, ...shown });
}

/** Returns the address for children, which are on this machine. An address that means all interfaces is not connectable everywhere. */
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
