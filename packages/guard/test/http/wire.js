/** Servers and raw connections for tests of the guard. */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { guard } from '@millrace/guard';
import { performance as clocks, stillClock } from '../../../base/test/clocks.js';

const { nodeTiming } = performance;

/** A wait of the loop that is longer than this, in ms, is a pause to a guard. */
const PAUSE_MS = 1;

/** Longer than a slice: whoever comes next has to wait. In ms. */
export const BUSY_MS = 30;

/** Holds the loop, as a synchronous handler does. */
export function block(ms = BUSY_MS) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/**
 * Stops the clock of Millrace until a test is over. `pass(ms)` moves it on, as time for which the loop is busy: to a guard, requests
 * cost what their handlers say and nothing else, however slow the machine is.
 */
export function exactClock(t) {
  const clock = stillClock(t);
  const utilization = () => ({ idle: 0, active: clocks.now(), utilization: 1 });
  t.mock.method(clocks, 'eventLoopUtilization', utilization);
  return clock;
}

/** A promise, and what settles it. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** After all that the loop has at hand. */
export async function turn() {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Until the loop has waited for something: to the guard it is idle again, and the next request runs at once. */
export async function idle() {
  const { idleTime } = nodeTiming;
  while (nodeTiming.idleTime - idleTime <= PAUSE_MS) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Options with which time turns nobody away, however slow the machine, and who is turned away is told at once. */
export const patient = { maxWait: 600_000, rejectDelay: 0 };

export async function listen(t, server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return server.address().port;
}

/**
 * A guarded server that is full: one request runs, one waits, and what comes in the same turn is turned away. What it has
 * handled is in `handled`.
 */
export async function serveFull(t, { options = {}, listener = answer } = {}) {
  const handled = [];
  const { server } = await serve(t, (req, res) => {
    handled.push(req.url);
    listener(req, res);
  });
  const g = guard(server, { ...patient, maxQueue: 1, ...options });
  t.after(() => g.close());
  const [running, waiting] = await connectAll(t, server, 2);
  /** Fills it, and has `write` called in the same turn of the loop. */
  const fill = (write) => {
    running.send('/running');
    waiting.send('/waiting');
    write();
    return Promise.all([running.response(), waiting.response()]);
  };
  return { server, guard: g, handled, fill };
}

function answer(req, res) {
  block();
  res.end(req.url);
}

/** Options of a server that bears connections which are idle, or slow, while the machine is busy elsewhere. */
export const enduring = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };

/** A server of node:http that listens. */
export async function serve(t, listener, options = {}) {
  const server = http.createServer({ ...enduring, ...options }, listener);
  return { server, port: await listen(t, server) };
}

/** A connection that is open on both sides: what is written to it is in the server's socket at once. The loop is idle then. */
export async function connect(t, server, open = (port) => net.connect(port, '127.0.0.1')) {
  const accepted = once(server, 'connection');
  const socket = open(server.address().port);
  const client = new Client(socket);
  const [[serverSide]] = await Promise.all([accepted, once(socket, 'connect')]);
  client.serverSide = serverSide;
  t.after(() => {
    socket.destroy();
    serverSide.destroy();
  });
  await idle();
  return client;
}

export async function connectAll(t, server, count) {
  const clients = [];
  for (let i = 0; i < count; i++) clients.push(await connect(t, server));
  return clients;
}

/** Reads responses of HTTP/1 off a socket, strictly in order. */
export class Client {
  text = '';
  isClosed = false;
  error = null;
  #waiting = [];

  constructor(socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.text += text;
      this.#look();
    });
    socket.on('error', (error) => {
      this.error = error;
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#look();
    });
  }

  write(text) {
    this.socket.write(text);
    return this;
  }

  /** Sends a request without a body, or with `body`. */
  send(path, { method = 'GET', headers = {}, body = '' } = {}) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
    return this.write(`${method} ${path} HTTP/1.1\r\nHost: test\r\n${lines.join('')}\r\n${body}`);
  }

  get closed() {
    return this.until(() => this.isClosed);
  }

  /** Resolves with what `find` gives, as soon as that is something; rejects when the connection closes before. */
  until(find) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ find, resolve, reject });
      this.#look();
    });
  }

  /** The next response. `hasBody` is false for the answer to a HEAD. */
  async response({ hasBody = true } = {}) {
    const { message, rest } = await this.until(() => parse(this.text, hasBody, this.isClosed));
    this.text = rest;
    return message;
  }

  async status(options) {
    return (await this.response(options)).status;
  }

  #look() {
    for (const waiting of this.#waiting.splice(0)) {
      const found = waiting.find();
      if (found) waiting.resolve(found);
      else if (this.isClosed) {
        waiting.reject(
          new Error(`the connection closed, with ${JSON.stringify(this.text)} received`),
        );
      } else this.#waiting.push(waiting);
    }
  }
}

function parse(text, hasBody, isClosed) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first, ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(first.split(' ')[1]);
  const begin = end + 4;
  const body = bodyAt(text, begin, status, headers, hasBody, isClosed);
  if (body === null) return null;
  return { message: { first, status, headers, body: body.text }, rest: text.slice(body.end) };
}

function bodyAt(text, begin, status, headers, hasBody, isClosed) {
  if (!hasBody || status < 200 || status === 204 || status === 304) return { text: '', end: begin };
  if (headers['transfer-encoding'] === 'chunked') return chunks(text, begin);
  if (headers['content-length'] === undefined) {
    return isClosed || status === 101 ? { text: text.slice(begin), end: text.length } : null;
  }
  const end = begin + Number(headers['content-length']);
  return text.length < end ? null : { text: text.slice(begin, end), end };
}

function chunks(text, begin) {
  let at = begin;
  let body = '';
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(text.slice(at, line), 16);
    const end = line + 2 + size + 2;
    if (text.length < end) return null;
    body += text.slice(line + 2, end - 2);
    at = end;
    if (size === 0) return { text: body, end: at };
  }
}
