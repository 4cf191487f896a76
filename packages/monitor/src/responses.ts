/**
 * Response times of the servers of node:http in this thread, by route. Node.js publishes on diagnostics channels when it has read the
 * head of a request, and when it has handed the end of the response to the system: nothing is patched, and while nobody asks nothing is
 * subscribed to.
 *
 * A route is what the framework says it is: Express leaves it at the request, Fastify publishes it. Elsewhere it is the path, with ids in
 * it as `:id`. Requests for made-up paths must not become routes: without a word of a framework all that is answered with 404 is one route,
 * and so is what comes when there are a hundred. Percentiles are of the last 10 to 20 s: of two slices, of which the older one is emptied
 * and becomes the newer. 14 KB for each route.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { types } from 'node:util';
import { Durations } from '@millrace/base/durations';
import { foldIds } from '@millrace/base/route';
import { announce } from '@millrace/base/sources';
import { performance } from '@millrace/base/timers';

/** Classes of status codes. */
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx';

/** Responses of one route. Times are in ms, from the head of the request to the last byte handed to the system. */
export interface RouteResponses {
  /** Method and path, `GET /users/:id`; up to 100 characters. `(not found)` and `(others)` stand for many. */
  readonly route: string;
  /** Number of responses since counting began, and the sum of their times. */
  readonly count: number;
  readonly sumMs: number;
  readonly statuses: Readonly<Record<StatusClass, number>>;
  /** Figures from here on are of the last 10 to 20 s, to 3 %; 0 without responses. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A counting of responses, until it is stopped: see {@link responses}. */
export interface Responses {
  /** Returns the counters of all routes, in the order of their first response. Some µs per route. */
  routes(): RouteResponses[];
  /** Stops counting, unless another caller still counts. Idempotent. */
  stop(): void;
}

/** The part of a message of Node.js, about a request or a response, that is read. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server?: object;
}

/** The part of Fastify's message before it calls a handler that is read. */
interface FastifyHandling {
  readonly request: { readonly raw: IncomingMessage };
  readonly route?: { readonly url?: string };
}

/** Properties that Express adds to a request. */
interface ExpressRequest {
  readonly baseUrl?: unknown;
  readonly route?: { readonly path?: unknown };
}

const sliceMs = 10_000;
const mostRoutes = 100;
const longestName = 100;

/** Durations of both slices of the route that is read. */
const both = new Durations();

class Route {
  readonly statuses = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 };
  count = 0;
  sumMs = 0;
  #slice: number;
  #newer = new Durations();
  #older = new Durations();

  constructor(
    readonly name: string,
    slice: number,
  ) {
    this.#slice = slice;
  }

  record(ms: number, status: number, slice: number): void {
    this.#advance(slice);
    this.count++;
    this.sumMs += ms;
    const statusClass = `${Math.floor(status / 100)}xx`;
    if (statusClass in this.statuses) this.statuses[statusClass as StatusClass]++;
    this.#newer.record(ms);
  }

  /** `seconds`: how long the window is. */
  read(slice: number, seconds: number): RouteResponses {
    this.#advance(slice);
    // Each look would leave 7 KB behind for each route.
    both.reset();
    both.add(this.#older);
    both.add(this.#newer);
    return {
      route: this.name,
      count: this.count,
      sumMs: this.sumMs,
      statuses: { ...this.statuses },
      perSecond: seconds > 0 ? both.count / seconds : 0,
      p50: both.percentile(50),
      p99: both.percentile(99),
      max: both.maxMs,
    };
  }

  #advance(slice: number): void {
    if (slice === this.#slice) return;
    this.#older.reset();
    [this.#older, this.#newer] = [this.#newer, this.#older];
    if (slice > this.#slice + 1) this.#older.reset();
    this.#slice = slice;
  }
}

/** Counts while somebody asks for it. There is one, or several that ask would count each response several times. */
export class ResponseCounter {
  readonly #clock: () => number;
  readonly #routes = new Map<string, Route>();
  /** The time at which the head of a request was read, and its route if Fastify has said it. */
  #begun = new WeakMap<IncomingMessage, number>();
  #declared = new WeakMap<IncomingMessage, string>();
  #users = 0;
  #sinceMs = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  join(): () => void {
    if (this.#users++ === 0) {
      this.#sinceMs = this.#clock();
      for (const [name, listener] of this.#listeners) subscribe(name, listener);
    }
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      if (--this.#users > 0) return;
      for (const [name, listener] of this.#listeners) unsubscribe(name, listener);
      this.#begun = new WeakMap();
      this.#declared = new WeakMap();
    };
  }

  routes(): RouteResponses[] {
    const nowMs = this.#clock();
    const slice = Math.floor(nowMs / sliceMs);
    const seconds = (nowMs - Math.max(this.#sinceMs, (slice - 1) * sliceMs)) / 1000;
    return [...this.#routes.values()].map((route) => route.read(slice, seconds));
  }

  readonly #listeners: readonly (readonly [string, (message: unknown) => void])[] = [
    [
      'http.server.request.start',
      (message) => {
        const { request, server } = message as Exchange;
        if (server === undefined || !leftOut.has(server)) this.#begun.set(request, this.#clock());
      },
    ],
    ['http.server.response.finish', (message) => this.#finished(message as Exchange)],
    [
      'tracing:fastify.request.handler:start',
      (message) => {
        const { request, route } = message as FastifyHandling;
        if (typeof route?.url === 'string') this.#declared.set(request.raw, route.url);
      },
    ],
  ];

  #finished({ request, response }: Exchange): void {
    const begunMs = this.#begun.get(request);
    // It came before anybody asked, or its server is left out.
    if (begunMs === undefined) return;
    const nowMs = this.#clock();
    const slice = Math.floor(nowMs / sliceMs);
    const name = this.#nameOf(request, response.statusCode);
    this.#route(name, slice).record(nowMs - begunMs, response.statusCode, slice);
  }

  #nameOf(request: IncomingMessage, status: number): string {
    const path = this.#declared.get(request) ?? expressPath(request as ExpressRequest);
    if (path !== null) return `${request.method} ${path}`;
    if (status === 404) return '(not found)';
    const { url = '' } = request;
    const query = url.indexOf('?');
    return `${request.method} ${foldIds(query < 0 ? url : url.slice(0, query))}`;
  }

  #route(name: string, slice: number): Route {
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    if (name.length > longestName) return this.#route(name.slice(0, longestName), slice);
    if (this.#routes.size >= mostRoutes && name !== others) return this.#route(others, slice);
    const route = new Route(name, slice);
    this.#routes.set(name, route);
    return route;
  }
}

const others = '(others)';

/** The path of a request's route in Express; null elsewhere. Where a router is mounted it says it as it came: `/users/17`. */
function expressPath({ route, baseUrl }: ExpressRequest): string | null {
  const path = route?.path;
  if (typeof path !== 'string' && !types.isRegExp(path) && !Array.isArray(path)) return null;
  return (typeof baseUrl === 'string' ? foldIds(baseUrl) : '') + String(path);
}

const leftOut = new WeakSet<object>();

/** Excludes a server's responses from now on: for a separate port of metrics or health. */
export function uncounted(server: Server): void {
  leftOut.add(server);
}

let counter: ResponseCounter | null = null;

/**
 * Counts and times the responses of all servers of `node:http` and `node:https` in this thread by route, from now until
 * `stop()`. Express, Fastify, Koa and other frameworks on them are included; HTTP/2 and upgraded connections are not. Earlier
 * requests, and requests whose client left, do not count.
 *
 * All callers share the counters: a later caller sees earlier counts. The exporters of `@millrace/monitor/metrics` and the
 * dashboard call it themselves. A response costs two readings of the clock and some look-ups in maps.
 */
export function responses(): Responses {
  if (counter === null) {
    counter = new ResponseCounter(performance.now);
    announce('responses', counter, (each) => ({ routes: each.routes() }));
  }
  const all = counter;
  const stop = all.join();
  return { routes: () => all.routes(), stop };
}
