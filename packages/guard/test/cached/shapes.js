/** Servers of each kind that `cached()` takes handlers of, and a client that tells all of an answer. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { promisify } from 'node:util';
import { cached } from '@millrace/guard/cached';
import connect from 'connect';
import express from 'express';
import fastify from 'fastify';
import { stillClock } from '../../../base/test/clocks.js';
import { patience } from '../patience.js';

/** Each makes a server of a function that gives `{ status, headers, body }` for a request of node:http. */
const makers = {
  'node:http': (answer, options) => {
    const handler = cached(async (req, res) => send(res, await answer(req)), options);
    return { handler, server: createServer(handler) };
  },
  Connect: (answer, options) => {
    const handler = cached((req, res, next) => {
      answer(req).then((given) => send(res, given), next);
    }, options);
    return { handler, server: createServer(connect().use(handler).use(tellError)) };
  },
  Express: (answer, options) => {
    const handler = cached(async (req, res) => {
      const { status = 200, headers = {}, body } = await answer(req);
      res.status(status).set(headers).send(body);
    }, options);
    // An ETag of its own would be one more header than the others have.
    const app = express().disable('etag').disable('x-powered-by').use(handler).use(tellError);
    return { handler, server: createServer(app) };
  },
  Fastify: (answer, options) => {
    const handler = cached(async (request, reply) => {
      const { status = 200, headers = {}, body } = await answer(request.raw);
      return reply.code(status).headers(headers).send(body);
    }, options);
    const app = fastify({ ...patience, forceCloseConnections: true });
    app.setErrorHandler((error, request, reply) => {
      reply.code(error.statusCode ?? 500).send(`told: ${error.message}`);
    });
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    app.all('*', handler);
    return { handler, app, server: app.server };
  },
};

function send(res, { status = 200, headers = {}, body }) {
  res.writeHead(status, headers);
  res.end(body);
}

/** Four parameters make it one for errors. */
function tellError(error, _req, res, _next) {
  res.statusCode = error.statusCode ?? 500;
  res.end(`told: ${error.message}`);
}

export const shapes = Object.keys(makers);

/** A server whose answers come from `answer`, which is counted; closed when the test ends. */
export async function serve(t, shape, answer, options) {
  const runs = [];
  const counted = async (req) => {
    runs.push(`${req.method} ${req.url}`);
    return answer(req, runs.length);
  };
  const { handler, server, app } = makers[shape](counted, options);
  await app?.ready();
  return { ...(await listen(t, server)), handler, runs, app };
}

/** A server of a handler for node:http. */
export async function listen(t, server) {
  if (typeof server === 'function') server = createServer(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections?.();
    await promisify(server.close.bind(server))();
  });
  const { port } = server.address();
  const get = (path, options) => ask(port, path, options);
  return { server, port, get };
}

/** Sends a request on a connection of its own; resolves with the whole answer. */
export async function ask(port, path, options = {}) {
  return await whole(await begin(port, path, options));
}

/** The same, as soon as the head of the answer is there. */
export async function begin(port, path, options = {}) {
  const { method = 'GET', headers = {}, body, agent = false } = options;
  const req = request({ port, host: '127.0.0.1', path, method, headers, agent });
  req.end(body);
  const [res] = await once(req, 'response');
  return res;
}

export async function whole(res) {
  const chunks = [];
  for await (const chunk of res) chunks.push(chunk);
  const { 'transfer-encoding': _, ...headers } = res.headers;
  return {
    status: res.statusCode,
    message: res.statusMessage,
    headers: withoutDate(headers),
    body: Buffer.concat(chunks),
    text: Buffer.concat(chunks).toString(),
  };
}

/** What of an answer is the handler's: not its age, nor how its length is told, which is up to who has the whole of it. */
export function content({ status, message, headers, body }) {
  const { age: _, 'content-length': length, ...others } = headers;
  return { status, message, headers: others, body: body.toString('base64') };
}

/** Each answer has the time it left at, and says how its connection goes on. */
function withoutDate({ date, connection, 'keep-alive': _, ...headers }) {
  return headers;
}

/** Something that a handler waits for: `open()` lets it go on; `reached(n)` resolves when n handlers wait. */
export function gate() {
  const waiting = [];
  const watchers = [];
  const pass = () =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      for (const { count, tell } of watchers) if (waiting.length >= count) tell();
    });
  return {
    pass,
    open: (value) => {
      for (const { resolve } of waiting.splice(0)) resolve(value);
    },
    fail: (error) => {
      for (const { reject } of waiting.splice(0)) reject(error);
    },
    reached: (count) =>
      new Promise((tell) => {
        watchers.push({ count, tell });
        if (waiting.length >= count) tell();
      }),
  };
}

/** Resolves when the server has so many requests that are not answered. */
export function requests(server, count) {
  return new Promise((resolve) => {
    let seen = 0;
    server.on('request', function counted() {
      if (++seen < count) return;
      server.off('request', counted);
      // The handler's own listener may come after this one.
      setImmediate(resolve);
    });
  });
}

/** A clock for ages that only the test moves: `pass(seconds)`. */
export function movableClock(t) {
  const clock = stillClock(t);
  return { pass: (seconds) => clock.pass(seconds * 1000) };
}
