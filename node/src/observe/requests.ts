/** Requests of http servers: what a guard would have refused, and which routes hold the loop. */
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Guard } from '../guard/guard.js';
import type { GuardableServer } from '../guard/http/server.js';
import type { ByClass } from '../guard/options.js';
import type { Observer } from './observer.js';
import { isOwn, serverOf } from './sockets.js';

export interface RouteReport {
  route: string;
  requests: number;
  /** Time its handlers held the loop until they returned, in ms. */
  busyMs: number;
  meanMs: number;
  maxMs: number;
}

export interface ServerReport {
  /** Null for one that listens on a path. */
  port: number | null;
  secure: boolean;
}

export interface RequestsReport {
  /** Servers of node:http and node:https that had a connection. */
  servers: ServerReport[];
  requests: number;
  /** Requests that a guard would have refused, as they had to wait for too long. */
  wouldShed: number;
  /** Address of the first request, and of the first that asked for a WebSocket. */
  url: string | null;
  upgradeUrl: string | null;
  /** The ten that held the loop longest. */
  routes: RouteReport[];
}

const mostRoutes = 10;

export class RequestsObserver implements Observer<RequestsReport> {
  readonly #maxWait: number | Partial<ByClass> | undefined;
  readonly #seen = new WeakSet<Server>();
  readonly #servers: ServerReport[] = [];
  #loading: Promise<(server: GuardableServer) => void> | null = null;
  #guard: Guard | null = null;
  #url: string | null = null;
  #upgradeUrl: string | null = null;
  #isOn = false;

  /** @param maxWait of the guard that would be there */
  constructor(maxWait?: number | Partial<ByClass>) {
    this.#maxWait = maxWait;
  }

  start(): void {
    this.#isOn = true;
  }

  stop(): void {
    this.#isOn = false;
    this.#guard?.close();
  }

  /** A connection: that of a server which was not known takes the guard to it. */
  noteSocket(socket: Socket): void {
    const server = serverOf(socket);
    if (server === null || this.#seen.has(server)) return;
    this.#seen.add(server);
    if (isOwn(socket) || !isHttp(server)) return;
    const address = server.address();
    const port = address === null || typeof address === 'string' ? null : address.port;
    this.#servers.push({ port, secure: 'setSecureContext' in server });
    void this.#watch(server as unknown as GuardableServer);
  }

  async #watch(server: GuardableServer): Promise<void> {
    try {
      this.#loading ??= this.#load();
      const watch = await this.#loading;
      if (this.#isOn) watch(server);
    } catch {
      // It has a guard of the application's.
    }
  }

  async #load(): Promise<(server: GuardableServer) => void> {
    const { guard, Guard } = await import('./guarded.js');
    const shared = new Guard({
      observe: true,
      classify: (req) => this.#noteRequest(req),
      ...(this.#maxWait !== undefined && { maxWait: this.#maxWait }),
    });
    this.#guard = shared;
    return (server) => void guard(server, shared);
  }

  #noteRequest(req: IncomingMessage): undefined {
    if ((req as IncomingMessage & { upgrade?: boolean }).upgrade) this.#upgradeUrl ??= req.url!;
    else if (req.method === 'GET') this.#url ??= req.url!;
  }

  read(): RequestsReport {
    const { classes, routes } = this.#guard?.stats() ?? { classes: {}, routes: [] };
    let requests = 0;
    let wouldShed = 0;
    for (const { admitted, wouldShed: would } of Object.values(classes)) {
      requests += admitted;
      wouldShed += would.wait;
    }
    return {
      servers: this.#servers.map((each) => ({ ...each })),
      requests,
      wouldShed,
      url: this.#url,
      upgradeUrl: this.#upgradeUrl,
      routes: routes.slice(0, mostRoutes).map(({ route, count, busyMs, meanMs, maxMs }) => {
        return { route, requests: count, busyMs, meanMs, maxMs };
      }),
    };
  }
}

/** One of node:net or node:tls has no such property. */
function isHttp(server: Server): boolean {
  return 'requestTimeout' in server && 'headersTimeout' in server;
}
