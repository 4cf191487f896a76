/**
 * A process of a cluster: takes its orders, loads or gets the application, makes it listen, and drains when told to. An application is
 * a request handler, a server, a Fastify instance or a Koa application, a function that makes one, or nothing: then it listens by itself.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Server } from 'node:net';
import { MillraceError, show } from '@millrace/base/errors';
import { isError } from '@millrace/base/realm';
import { drain, drainOn } from './drain.js';
import { received, report, sampleUtilization } from './health.js';
import { usualPort } from './options.js';
import {
  type FromPrimary,
  type Orders,
  ordersVariable,
  type RawHandle,
  tell,
  unwrap,
} from './protocol.js';
import {
  asksToListen,
  firstListening,
  isListening,
  isMain,
  receive,
  replaceGetServer,
} from './servers.js';
import { reportStalls } from './stalls.js';

/** The parts of a Fastify instance that are used. */
export interface FastifyLike {
  readonly server: Server;
  ready(): PromiseLike<unknown>;
  listen(options: { port: number; host?: string; backlog?: number }): Promise<unknown>;
}

/** A Koa application. */
export interface KoaLike {
  callback(): RequestListener;
}

/**
 * Application: a request handler (so is an Express application), a server (http, https, http2, net), a Fastify instance, a
 * Koa application, or a function without parameters that returns one of these, or a promise.
 */
export type App = RequestListener | Server | FastifyLike | KoaLike | (() => App | PromiseLike<App>);

/** Resolves the given application to a server; null for an application that listens by itself. */
async function application(given: unknown): Promise<Server | FastifyLike | null> {
  const app = await made(given);
  if (app === undefined || app === null) return null;
  if (app instanceof Server || isFastify(app)) return app;
  if (isKoa(app)) return createServer(app.callback());
  if (typeof app === 'function') return createServer(app as RequestListener);
  // A file in CommonJS exports an object where it exports nothing.
  if (typeof app === 'object' && (isListening() || Object.keys(app).length === 0)) return null;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${show(app)} is no application; it must be a function (req, res), an http.Server, an Express, Fastify or Koa application, or a function without parameters that returns one of these`,
  );
}

/** Makes it listen where the orders say, unless it does so already. */
async function listening(app: Server | FastifyLike, orders: Orders): Promise<Server> {
  const server = app instanceof Server ? app : app.server;
  if (asksToListen(server)) return heard(server);
  const { host, backlog } = orders;
  const place = { port: orders.port ?? usualPort(), backlog, ...(host === null ? {} : { host }) };
  isMain(server);
  if (app instanceof Server) return heard(app.listen(place));
  // By default it listens on one address; here on all of them.
  await app.listen({ host: '::', ...place });
  return server;
}

/** Rejects if it cannot. */
async function heard(server: Server): Promise<Server> {
  if (!server.listening) await once(server, 'listening');
  return server;
}

/** Handlers have parameters; a function that makes an application has none. */
async function made(given: unknown): Promise<unknown> {
  const isFactory = typeof given === 'function' && given.length === 0 && !isKoa(given);
  return isFactory ? await given() : await given;
}

function isFastify(app: unknown): app is FastifyLike {
  const { server, ready, listen } = app as Partial<FastifyLike>;
  return server instanceof Server && typeof ready === 'function' && typeof listen === 'function';
}

const isKoa = (app: unknown): app is KoaLike =>
  typeof (app as Partial<KoaLike>).callback === 'function';

/** Process of a cluster, for the application in it. */
export interface ClusterWorker {
  readonly isPrimary: false;
  /** Number of its slot in the cluster, from 1; its replacement has the same. */
  readonly slot: number;
  /** The server that listens; null if the application gave none. */
  readonly server: Server | null;
}

/** The orders, once: what this process starts itself gets none. Null where there are none. */
export function takeOrders(): Orders | null {
  const text = process.env[ordersVariable];
  delete process.env[ordersVariable];
  return text === undefined ? null : (JSON.parse(text) as Orders);
}

/** Runs what `get` returns as the application of this process. Resolves when it listens and the primary knows. */
export async function work(
  orders: Orders,
  get: () => unknown | Promise<unknown>,
): Promise<ClusterWorker> {
  // The stack goes to stderr, as always.
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    tell({ type: 'failed', reason: isError(error) ? error.message : String(error) });
  });
  reportStalls(orders.stalls);
  replaceGetServer();
  drainOn(orders);
  process.on('message', (message, handle) => {
    const body = unwrap<FromPrimary>(message);
    if (body?.type === 'report') tell({ type: 'report', ask: body.ask, report: report() });
    else if (body?.type === 'health') received(body.ask, body.health);
    else if (body?.type === 'drain') void drain(orders);
    else if (body !== null) receive(body, handle as RawHandle | undefined);
  });
  if (orders.sampleInterval > 0) sampleUtilization(orders.sampleInterval);
  const app = await application(await get());
  const server = app === null ? null : await listening(app, orders);
  // It listens by itself, or will.
  if (app === null) await firstListening();
  tell({ type: 'ready' });
  return { isPrimary: false, slot: orders.slot, server };
}

/** Error for a process that another cluster started. */
export function foreign(): MillraceError {
  const who = cluster.isWorker ? 'by another program through node:cluster' : 'as a second cluster';
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `serve() was called in a process that was started ${who}, or a second time; run the program by itself (with pm2 in fork mode), and call serve() once`,
  );
}
