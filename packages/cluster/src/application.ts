/** What counts as an application, and how each kind of it gets to listen. */
import { createServer, type RequestListener } from 'node:http';
import { Server } from 'node:net';
import { MillraceError, show } from '@millrace/base/errors';
import { usualPort } from './options.js';
import type { Orders } from './protocol.js';
import { asksToListen, isListening, isMain } from './servers.js';

/** A Fastify instance, as far as it matters here. */
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
 * A request handler (so is an Express application), a server (http, https, http2, net), a Fastify instance, a Koa application, or a
 * function without parameters that returns one of these, or a promise.
 */
export type App = RequestListener | Server | FastifyLike | KoaLike | (() => App | PromiseLike<App>);

/** What `given` amounts to; null for an application that listens by itself. */
export async function application(given: unknown): Promise<Server | FastifyLike | null> {
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
export async function listening(app: Server | FastifyLike, orders: Orders): Promise<Server> {
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

function heard(server: Server): Promise<Server> {
  if (server.listening) return Promise.resolve(server);
  return new Promise((resolve, reject) => {
    server.once('listening', () => resolve(server));
    server.once('error', reject);
  });
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
