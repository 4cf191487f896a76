/**
 * Requests of http servers: what a guard would have refused, and which routes hold the loop. A server becomes known with its first
 * connection; from then on its `emit` is replaced, so that requests are seen on their way to its listeners, and what these take is timed
 * until they return. A route with many requests is well known: from then on one in so many is timed and stands for the others, as reading
 * the clock twice is much of what an observed request costs. Once a turn was blocked, all are timed.
 */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { now } from '@millrace/base/loop-clock';
import { type Patch, patchMethod } from '@millrace/base/patch';
import type { GuardOptions } from '@millrace/guard';
import { RequestWatch, type Route } from '@millrace/guard/requests';
import { isOwn, serverOf } from '../../auto/sockets.cjs';
import type { LoopObserver } from './loop.js';

/** Route that kept the loop busy. */
export interface RouteReport {
  route: string;
  requests: number;
  /**
   * Time for which its handlers kept the loop busy until they returned, in ms; of long ones without the time in which the
   * thread got no CPU.
   */
  busyMs: number;
  meanMs: number;
  maxMs: number;
}

/** A server that had a connection. */
export interface ServerReport {
  /** Port; null if it listens on a path. */
  port: number | null;
  secure: boolean;
}

/** Requests of the http servers of this thread. */
export interface RequestsReport {
  /** Servers of node:http and node:https that had a connection. */
  servers: ServerReport[];
  requests: number;
  /** Requests that a guard would have refused because they waited too long. */
  wouldShed: number;
  /** Address of the first request, and of the first WebSocket upgrade. */
  url: string | null;
  upgradeUrl: string | null;
  /** The ten routes that kept the loop busy longest. */
  routes: RouteReport[];
}

const mostRoutes = 10;
/** Requests of a route after which it is well known; from then on one in `stride` is timed. */
const wellKnown = 100;
const stride = 7;

export class RequestsObserver {
  readonly #guard: RequestWatch;
  readonly #seen = new WeakSet<Server>();
  readonly #servers: ServerReport[] = [];
  #patches: Patch[] = [];
  #isOn = true;
  #requests = 0;
  #wouldShed = 0;
  #url: string | null = null;
  #upgradeUrl: string | null = null;
  /** Route of the request whose handler is running. */
  #route: Route | null = null;
  /** Requests that this one stands for; 0 for one that is not timed. */
  #weight = 0;
  #startedMs = 0;
  /** Time of requests that are passed on while a handler runs: they are part of it. */
  #inner = 0;

  /**
   * @param maxWait option of the guard that would be there
   * @param loop says whether a turn of the loop was blocked
   */
  constructor(
    maxWait: NonNullable<GuardOptions['maxWait']>,
    private readonly loop: LoopObserver,
  ) {
    this.#guard = new RequestWatch(maxWait);
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
  }

  /** A connection: the first of a server makes it known. */
  noteSocket(socket: Socket): void {
    const server = serverOf(socket);
    if (server === null || this.#seen.has(server)) return;
    this.#seen.add(server);
    if (isOwn(socket) || !isHttp(server)) return;
    const address = server.address();
    const port = address === null || typeof address === 'string' ? null : address.port;
    this.#servers.push({ port, secure: 'setSecureContext' in server });
    this.#patches.push(this.#patchEmit(server as HttpServer));
  }

  #patchEmit(server: HttpServer): Patch {
    const observer = this;
    return patchMethod(server, 'emit', (original) => {
      return function emit(this: HttpServer, event: string, ...args: unknown[]): boolean {
        if (!observer.#isOn || event !== 'request') {
          if (observer.#isOn && event === 'upgrade') observer.#upgrade(args[0] as IncomingMessage);
          return original.call(this, event, ...args);
        }
        observer.#begin(args[0] as IncomingMessage);
        try {
          return original.call(this, event, ...args);
        } finally {
          observer.#end();
        }
      };
    });
  }

  #begin({ method = 'GET', url = '/' }: IncomingMessage): void {
    if (this.#route !== null) {
      this.#inner++;
      return;
    }
    if (this.#url === null && method === 'GET') this.#url = url;
    const route = this.#guard.routeOf(method, url);
    this.#requests++;
    this.#route = route;
    const weight = route.count < wellKnown || this.loop.wasBlocked ? 1 : stride;
    if (route.count % weight !== 0) {
      this.#weight = 0;
      this.#guard.ranUntimed(route);
      return;
    }
    const at = now();
    this.loop.cpu.beginWork(at);
    if (this.#guard.arrived(route, at)) this.#wouldShed += weight;
    this.#weight = weight;
    this.#startedMs = at;
  }

  #end(): void {
    if (this.#inner > 0) {
      this.#inner--;
      return;
    }
    const route = this.#route!;
    this.#route = null;
    if (this.#weight === 0) return;
    const at = now();
    const wallMs = at - this.#startedMs;
    // A thread without a CPU is no fault of the route; those behind it have waited all the same.
    const missedMs = wallMs < this.loop.blockedMs ? 0 : this.loop.cpu.missedInWork(wallMs, at);
    const ms = wallMs - missedMs;
    // A request that blocked the loop stands for no other.
    this.#guard.ran(route, wallMs, ms, wallMs < this.loop.blockedMs ? this.#weight - 1 : 0);
  }

  #upgrade({ url = '/' }: IncomingMessage): void {
    this.#upgradeUrl ??= url;
  }

  get count(): number {
    return this.#requests;
  }

  read(): RequestsReport {
    return {
      servers: this.#servers.map((each) => ({ ...each })),
      requests: this.#requests,
      wouldShed: this.#wouldShed,
      url: this.#url,
      upgradeUrl: this.#upgradeUrl,
      routes: this.#guard
        .routes()
        .sort((a, b) => b.busyMs - a.busyMs)
        .slice(0, mostRoutes)
        .map(({ name, count, busyMs, maxMs }) => {
          return { route: name, requests: count, busyMs, meanMs: busyMs / count, maxMs };
        }),
    };
  }
}

/** Reports whether a server is one of node:http: those of node:net and node:tls have no such property. */
function isHttp(server: Server): boolean {
  return 'requestTimeout' in server && 'headersTimeout' in server;
}
