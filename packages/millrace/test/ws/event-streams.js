/** Servers of event streams on loopback, their readers, and a parser so simple that it is right at sight. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import {
  createSecureServer,
  connect as http2Connect,
  createServer as http2Server,
} from 'node:http2';
import { request as httpsRequest, createServer as httpsServer } from 'node:https';
import { connect as netConnect } from 'node:net';
import { certificate } from './certificate.js';

/** An event stream, as the HTML standard reads it (9.2.6): events, and how many comments came. */
export class EventReader {
  events = [];
  comments = 0;
  isEnded = false;
  lastId = '';
  #bytes = Buffer.alloc(0);
  #data = [];
  #event = '';
  #waiting = [];

  read(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (let end = this.#bytes.indexOf('\n'); end >= 0; end = this.#bytes.indexOf('\n')) {
      this.#line(this.#bytes.toString('utf8', 0, end));
      this.#bytes = this.#bytes.subarray(end + 1);
    }
    this.#check();
  }

  #line(line) {
    if (line === '') {
      if (this.#data.length > 0) {
        this.events.push({ event: this.#event, id: this.lastId, data: this.#data.join('\n') });
      }
      this.#data = [];
      this.#event = '';
      return;
    }
    const [, name, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (name === '') this.comments++;
    else if (name === 'data') this.#data.push(value ?? '');
    else if (name === 'event') this.#event = value;
    else if (name === 'id') this.lastId = value;
    else throw new Error(`the line ${JSON.stringify(line)} is no field that was sent`);
  }

  /** The stream is over. */
  end() {
    this.isEnded = true;
    this.#check();
  }

  get texts() {
    return this.events.map(({ data }) => data);
  }

  /** Resolves when `holds(this)` does. */
  until(holds) {
    return new Promise((resolve) => {
      const check = () => {
        if (!holds(this)) return false;
        resolve();
        return true;
      };
      if (!check()) this.#waiting.push(check);
    });
  }

  #check() {
    this.#waiting = this.#waiting.filter((check) => !check());
  }
}

/** One connection: the response on the server's side, its headers as the client saw them, and the reader. */
class Stream {
  reader = new EventReader();

  constructor(parts) {
    Object.assign(this, parts);
  }
}

/** Ways of the events: each makes a server, and a connection to it, of which `headers` resolves when they are there. */
const ways = {
  http: { server: createServer, connect: httpConnect() },
  'http, Connection: close': {
    server: createServer,
    connect: httpConnect({ connection: 'close' }),
  },
  'http/1.0': { server: createServer, connect: oldConnect },
  https: { server: (listener) => httpsServer(certificate(), listener), connect: httpConnect() },
  h2c: { server: http2Server, connect: h2Connect('http') },
  h2: {
    server: (listener) => createSecureServer(certificate(), listener),
    connect: h2Connect('https'),
  },
};

export const wayNames = Object.keys(ways);

/**
 * A server whose streams are opened by `accept(response)`, which may be asynchronous; it is closed with the test. `connect()` resolves to a
 * stream when its headers have come, so `accept` has to send some.
 */
export async function openStreams(t, way, accept, middleware = null) {
  const { server: make, connect } = ways[way];
  const accepted = new Map();
  const server = make((incoming, response) => {
    response.on('error', () => {});
    const then = () => {
      accepted.get(incoming.url)?.(response);
      accept(response, incoming);
    };
    if (middleware === null) then();
    else middleware(incoming, response, then);
  });
  // A connection may be used again after a pause, as long as a busy machine makes it.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const closers = [];
  t.after(async () => {
    for (const close of closers) close();
    server.closeAllConnections?.();
    server.close();
    if (server.listening) await once(server, 'close');
  });
  let count = 0;
  return {
    server,
    port,
    async connect(options = {}) {
      const path = `/${count++}`;
      const response = new Promise((resolve) => accepted.set(path, resolve));
      const parts = await connect({
        port,
        path,
        closers,
        isSecure: server.setSecureContext,
        ...options,
      });
      const stream = new Stream({ ...parts, response: await response });
      const { body, reader } = { ...parts, ...stream };
      body.on('data', (bytes) => reader.read(bytes));
      body.on('end', () => reader.end());
      body.on('error', () => {});
      body.on('close', () => reader.end());
      // One without a body may have ended before.
      if (body.readableEnded || body.destroyed) reader.end();
      body.resume();
      return stream;
    },
  };
}

function httpConnect(more = {}) {
  return async ({ port, path, closers, method = 'GET', headers = {}, isSecure, agent = false }) => {
    const ask = isSecure === undefined ? request : httpsRequest;
    const options = { host: '127.0.0.1', port, path, method, agent, rejectUnauthorized: false };
    const client = ask({ ...options, headers: { ...headers, ...more } });
    client.on('error', () => {});
    client.end();
    closers.push(() => client.destroy());
    const [body] = await once(client, 'response');
    const { statusCode: status, headers: given } = body;
    return { body, status, headers: given, abort: () => client.destroy() };
  };
}

/** A client of HTTP/1.0, which knows no chunks. */
async function oldConnect({ port, path, closers, method = 'GET' }) {
  const body = netConnect(port, '127.0.0.1');
  closers.push(() => body.destroy());
  body.write(`${method} ${path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n`);
  let head = Buffer.alloc(0);
  while (!head.includes('\r\n\r\n')) head = Buffer.concat([head, (await once(body, 'data'))[0]]);
  body.pause();
  const end = head.indexOf('\r\n\r\n') + 4;
  const [first, ...lines] = head.toString('latin1', 0, end).trim().split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ')));
  if (head.length > end) body.unshift(head.subarray(end));
  const status = Number(first.split(' ')[1]);
  return { body, status, headers, abort: () => body.destroy() };
}

function h2Connect(scheme) {
  return async ({ port, path, closers, method = 'GET', headers = {} }) => {
    const session = http2Connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on('error', () => {});
    closers.push(() => session.destroy());
    const body = session.request({ ':path': path, ':method': method, ...headers });
    body.on('error', () => {});
    const [given] = await once(body, 'response');
    return { body, status: given[':status'], headers: given, session, abort: () => body.close(8) };
  };
}
