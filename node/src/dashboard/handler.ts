/** What the dashboard's server answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentType, exposition } from '../metrics/exposition.js';
import {
  bearer,
  cookieToken,
  isLoopbackHost,
  isSameOrigin,
  sameToken,
  securityHeaders,
  tokenCookie,
} from './access.js';
import { readBody } from './body.js';
import { pageFile } from './files.js';
import type { Hub } from './hub.js';
import { isLoopback } from './options.js';

/** Each has a socket and gets each sample. */
const mostViewers = 16;

export interface Site {
  readonly hub: Hub;
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
}

/** Answers one request. `site` is asked when the port is known. */
export async function handle(site: Site, request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? '/', 'http://localhost');
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (isLoopback(site.host) && !isLoopbackHost(request)) {
    return refuse(response, 403, 'the Host header does not name this machine: use 127.0.0.1');
  }
  if (site.token !== null && !mayEnter(site.token, site.port, url, request, response)) return;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (url.pathname === '/api/features') {
    if (request.method === 'POST') return switchFeature(site.hub, request, response);
    return refuse(response, 405, 'features are switched with POST', { Allow: 'POST' });
  }
  if (!isRead) return refuse(response, 405, 'only GET here', { Allow: 'GET, HEAD' });
  if (url.pathname === '/api/events') return events(site.hub, request, response);
  if (url.pathname === '/api/snapshot') return sendJson(response, 200, await snapshot(site.hub));
  if (url.pathname === '/metrics') {
    return send(response, 200, contentType, await metrics(site.hub));
  }
  const file = pageFile(url.pathname);
  if (file === undefined) return refuse(response, 404, 'there is no such page');
  send(response, 200, file.type, file.body);
}

/** With `?token=` a browser is given a cookie, and goes on without the token in its address. */
function mayEnter(
  token: string,
  port: number,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const given = url.searchParams.get('token');
  if (given !== null && url.pathname === '/' && sameToken(given, token)) {
    response.setHeader('Set-Cookie', tokenCookie(token, port));
    response.writeHead(303, { Location: './' }).end();
    return false;
  }
  if (sameToken(bearer(request), token) || sameToken(cookieToken(request, port), token))
    return true;
  refuse(response, 401, 'the token is missing or wrong: open /?token=…, or send it as Bearer', {
    'WWW-Authenticate': 'Bearer',
  });
  return false;
}

function events(hub: Hub, request: IncomingMessage, response: ServerResponse) {
  if (request.method === 'HEAD') return send(response, 200, 'text/event-stream', '');
  if (hub.viewers >= mostViewers) {
    return refuse(response, 503, `there are ${mostViewers} viewers: close one`);
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  const lastId = request.headers['last-event-id'];
  hub.watch(response, typeof lastId === 'string' ? lastId : undefined);
}

/** All processes, told apart by the label `process`. */
async function metrics(hub: Hub): Promise<string> {
  const samples = await hub.samples();
  return exposition(
    samples.map(({ process, points }) => ({ labels: { process: process.id }, points })),
  );
}

async function snapshot(hub: Hub): Promise<object> {
  const samples = new Map((await hub.samples()).map((sample) => [sample.process.id, sample]));
  return {
    at: Date.now(),
    processes: hub.members.map(({ info, endedAt, features, link }) => {
      const { at = null, points = [], observe } = samples.get(info.id) ?? {};
      const current = samples.get(info.id)?.features ?? features;
      return {
        ...info,
        endedAt,
        droppedLines: link.dropped,
        at,
        points,
        features: current,
        observe,
      };
    }),
  };
}

async function switchFeature(hub: Hub, request: IncomingMessage, response: ServerResponse) {
  if (!isSameOrigin(request)) return refuse(response, 403, 'only the page itself may switch');
  // No form of another site can send this type without being asked first.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return refuse(response, 415, 'the body must be application/json');
  }
  const body = await readBody(request);
  if (body === null) return refuse(response, 413, 'the body is too long', { Connection: 'close' });
  const { process, feature, on } = parse(body);
  if (typeof process !== 'string' || typeof feature !== 'string' || typeof on !== 'boolean') {
    return refuse(response, 400, 'the body must be { "process": id or "all", "feature", "on" }');
  }
  const switched = await hub.switch(process, feature, on);
  if (switched.length === 0) {
    return refuse(response, 404, `no process ${process} that has the feature ${feature} is there`);
  }
  const failed = switched.every(({ error }) => error !== undefined);
  sendJson(response, failed ? 409 : 200, { switched });
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, status: number, body: object) {
  send(response, status, 'application/json', JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, error: string, headers = {}) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  sendJson(response, status, { error });
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer) {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length }).end(body);
}
