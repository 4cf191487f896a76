/** Random stacks of real middleware around and inside of `cached()`, whose answers are for one user each, and say so somewhere. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { cached } from '@millrace/guard/cached';
import compression from 'compression';
import connect from 'connect';
import cors from 'cors';
import express from 'express';
import session from 'express-session';
import fastify from 'fastify';
import helmet from 'helmet';
import onHeaders from 'on-headers';
import { patience } from '../patience.js';

/** Ways in which an answer says that it is for one user. Some cannot be parsed, and can mean nothing else. */
const declarations = [
  ['Vary', 'X-User'],
  ['Vary', 'Accept-Encoding, x-user'],
  ['Vary', '*'],
  ...[
    'private',
    'max-age=60, Private',
    'no-store',
    'no-cache',
    'private="x-user, etag"',
    'private;',
    'max-age=60; private',
    '"private"',
    'max-age=60 private',
    'private=',
    'max-age="60, private',
  ].map((value) => ['Cache-Control', value]),
];

/** Who says so, and when: as middleware of connect, or in the handler. */
const sayers = {
  early: (name, value) => (_req, res, next) => {
    res.setHeader(name, value);
    next();
  },
  'when the head leaves': (name, value) => (_req, res, next) => {
    onHeaders(res, () => res.setHeader(name, value));
    next();
  },
  'in the arguments of writeHead': (name, value) => (_req, res, next) => {
    const { writeHead } = res;
    res.writeHead = function (status, ...rest) {
      const given = rest.find((each) => typeof each === 'object');
      const others = Array.isArray(given) ? Object.fromEntries(pairs(given)) : given;
      return writeHead.call(this, status, { ...others, [name]: value });
    };
    next();
  },
  'before the end': (name, value) => (_req, res, next) => {
    const { end } = res;
    res.end = function (...args) {
      if (!res.headersSent) res.setHeader(name, value);
      return end.apply(this, args);
    };
    next();
  },
  'after a while': (name, value) => (_req, res, next) => {
    const { end } = res;
    res.end = (...args) => {
      setImmediate(() => {
        if (!res.headersSent) res.setHeader(name, value);
        end.apply(res, args);
      });
      return res;
    };
    next();
  },
};

const places = [...Object.keys(sayers), 'handler', 'hook'];
/** They come too late for handlers and middleware that send the head before the end. */
const atTheEnd = ['before the end', 'after a while'];

function pairs(list) {
  const flat = list.flat();
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : []));
}

/** Ways in which a request names its user. */
const sights = {
  header: (req) => req.headers['x-user'],
  host: (req) => (req.authority ?? req.headers.host).split('.')[0],
  'host header': (req) => (req.headers.host ?? req.headers[':authority']).split('.')[0],
  'forwarded host': (req) => (req.headers['x-forwarded-host'] ?? req.headers.host).split('.')[0],
};

const wrappers = {
  helmet: () => helmet(),
  cors: () => cors({ origin: true, credentials: true }),
  compression: () => compression({ threshold: 0 }),
  session: (random) =>
    session({ secret: 's', resave: random(2) === 0, saveUninitialized: random(2) === 0 }),
};

/** Ways in which the handler sends its text. */
const givers = {
  end: (res, headers, text) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.end(text);
  },
  writeHead: (res, headers, text) => {
    res.writeHead(200, headers);
    res.end(text);
  },
  pieces: (res, headers, text) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.write(text.slice(0, 5));
    setImmediate(() => res.end(text.slice(5)));
  },
  later: (res, headers, text) => setImmediate(() => givers.writeHead(res, headers, text)),
};

/**
 * What a random stack is made of. `declared: false` leaves out what says whom its answers are for, to see that this is
 * found.
 */
export function plan(random, { declared = true } = {}) {
  const pick = (list) => list[random(list.length)];
  const place = pick(places);
  const isAtTheEnd = atTheEnd.includes(place);
  const shape =
    place === 'hook'
      ? 'Fastify'
      : pick(['connect', 'Express', 'HTTP/2', ...(isAtTheEnd ? [] : ['Fastify'])]);
  const sight = pick(['header', 'header', 'header', ...Object.keys(sights)]);
  const isPublic = declared && random(6) === 0;
  const names = Object.keys(wrappers).filter((name) => {
    const sendsHead = name === 'compression' || name === 'session';
    // These two know the responses of HTTP/1 only.
    return !(sendsHead && (shape === 'HTTP/2' || isAtTheEnd));
  });
  const some = names.filter(() => random(3) === 0).sort(() => random(2) - 0.5);
  return {
    shape,
    sight,
    isPublic,
    // A session is around whatever uses it; the others may be inside of `cached()` as well.
    around: some.filter((name) => name === 'session' || random(2) === 0),
    inside: shape === 'Fastify' ? [] : some.filter((name) => name !== 'session' && random(2) === 0),
    place,
    outermost: random(2) === 0,
    declaration: !declared || isPublic || sight !== 'header' ? null : pick(declarations),
    giver: isAtTheEnd ? 'end' : pick(Object.keys(givers)),
    hook: pick(['onRequest', 'preHandler', 'onSend']),
    options: { ttl: 60, stale: random(2) * 60 },
  };
}

/** A running server of the plan: `{ port, stats, close }`. Each response names in `x-expected` whom it must be for. */
export async function start(planned, random) {
  const { shape, place, declaration, outermost } = planned;
  const see = sights[planned.sight];
  let runs = 0;
  const own = place === 'handler' && declaration !== null ? Object.fromEntries([declaration]) : {};
  const text = (req) => {
    const user = planned.isPublic ? 'everybody' : see(req);
    return JSON.stringify({ user, run: ++runs, filler: user.repeat(random(200)) });
  };
  const expect = (req, res, next) => {
    res.setHeader('x-expected', planned.isPublic ? 'everybody' : see(req));
    next();
  };
  const made = (names) => names.map((name) => wrappers[name](random));
  const around = made(planned.around);
  if (declaration !== null && place in sayers) {
    const sayer = sayers[place](...declaration);
    if (outermost) around.unshift(sayer);
    else around.push(sayer);
  }
  around.unshift(expect);
  const inside = made(planned.inside);
  const answer = (req, res) => {
    if (req.session !== undefined && random(2) === 0) req.session.user = see(req);
    if (shape === 'Express' && planned.giver === 'end') res.set(own).type('json').send(text(req));
    else givers[planned.giver](res, own, text(req));
  };
  if (shape === 'Fastify') {
    const app = fastify({ ...patience, forceCloseConnections: true });
    for (const middleware of around) {
      app.addHook('onRequest', (request, reply, done) => middleware(request.raw, reply.raw, done));
    }
    if (declaration !== null && place === 'hook') {
      app.addHook(planned.hook, async (_request, reply) => void reply.header(...declaration));
    }
    const handler = cached(async (request, reply) => {
      if (planned.giver === 'later') await new Promise((resolve) => setImmediate(resolve));
      return reply.headers(own).type('application/json').send(text(request.raw));
    }, planned.options);
    app.route({ method: ['GET', 'HEAD'], url: '/', handler });
    await app.ready();
    return await listening(app.server, handler);
  }
  const app = shape === 'Express' ? express() : connect();
  for (const middleware of around) app.use(middleware);
  const router = shape === 'Express' ? express() : connect();
  for (const middleware of [...inside, answer]) router.use(middleware);
  const handler = cached(inside.length > 0 ? router : answer, planned.options);
  app.use(handler);
  const server =
    shape === 'HTTP/2' ? createHttp2Server(app) : createServer({ keepAliveTimeout: 0 }, app);
  return await listening(server, handler);
}

async function listening(server, handler) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections?.();
    await closed;
  };
  return { port: server.address().port, stats: () => handler.stats(), close };
}
