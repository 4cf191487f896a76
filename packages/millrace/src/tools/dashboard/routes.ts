/**
 * Pages and interfaces of the dashboard: its files, `/api/events` (server-sent events), `/api/snapshot`, `/api/features`, which switches
 * a feature, and `/metrics`. No other file is served. Each request is checked by `access.ts` first.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { MillraceError } from '@millrace/base/errors';
import { packageFile } from '@millrace/base/installed';
import { wallClock } from '@millrace/base/timers';
import { contentType, exposition } from '@millrace/monitor/metrics';
import { thisPackage } from '../../package.cjs';
import {
  type Door,
  isSameOrigin,
  mayEnter,
  refuse,
  securityHeaders,
  send,
  sendJson,
} from './access.js';
import type { Hub } from './hub.js';

/** Most viewers: each has a socket and gets each sample. */
const mostViewers = 16;

const longestBodyBytes = 4096;

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

interface Site extends Door {
  readonly hub: Hub;
}

/** Answers one request. */
export async function handle(site: Site, request: IncomingMessage, response: ServerResponse) {
  const { hub } = site;
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  const url = parse(request.url);
  if (url === null) return refuse(response, 400, 'the address cannot be read');
  if (!mayEnter(site, url, request, response)) return;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (url.pathname === '/api/features') {
    if (request.method === 'POST') return switchFeature(hub, request, response);
    return refuse(response, 405, 'features are switched with POST', { Allow: 'POST' });
  }
  if (!isRead) return refuse(response, 405, 'only GET here', { Allow: 'GET, HEAD' });
  if (url.pathname === '/api/events') return events(hub, request, response);
  if (url.pathname === '/api/snapshot') return sendJson(response, 200, await snapshot(hub));
  if (url.pathname === '/metrics') return send(response, 200, contentType, await metrics(hub));
  const file = pageFile(url.pathname);
  if (file === undefined) return refuse(response, 404, 'there is no such page');
  send(response, 200, file.type, file.body);
}

function parse(address = '/'): URL | null {
  try {
    return new URL(address, 'http://localhost');
  } catch {
    return null;
  }
}

function events(hub: Hub, request: IncomingMessage, response: ServerResponse) {
  if (request.method === 'HEAD') return send(response, 200, 'text/event-stream', '');
  if (hub.viewers >= mostViewers) {
    return refuse(response, 503, `there are ${mostViewers} viewers: close one`);
  }
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    // Otherwise nginx buffers the responses.
    'X-Accel-Buffering': 'no',
  });
  const lastId = request.headers['last-event-id'];
  hub.watch(response, typeof lastId === 'string' ? lastId : undefined);
}

/** Returns the metrics of all processes, distinguished by the label `process`. */
async function metrics(hub: Hub): Promise<string> {
  const samples = await hub.samples();
  return exposition(
    samples.map(({ process, points }) => ({ labels: { process: process.id }, points })),
  );
}

async function snapshot(hub: Hub): Promise<object> {
  const samples = new Map((await hub.samples()).map((sample) => [sample.process.id, sample]));
  return {
    at: wallClock.now(),
    processes: hub.members.map(({ info, endedAt, features, link }) => {
      const { at = null, points = [], observe, watch } = samples.get(info.id) ?? {};
      const current = samples.get(info.id)?.features ?? features;
      return {
        ...info,
        endedAt,
        droppedLines: link.dropped,
        at,
        points,
        features: current,
        observe,
        watch,
      };
    }),
  };
}

/** Answers a request to switch a feature. Rejects when the client goes before the end of its body. */
async function switchFeature(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isSameOrigin(request)) return refuse(response, 403, 'only the page itself may switch');
  // No form of another site can send this type without a preflight request.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return refuse(response, 415, 'the body must be application/json');
  }
  const body = await readBody(request);
  if (body === null) return refuse(response, 413, 'the body is too long');
  const { process, feature, on } = parseBody(body);
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

function parseBody(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Returns the body of a request as text; null when it is too long. Rejects when the client goes before its end. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

let paths: ReadonlyMap<string, string> | undefined;

/** Returns the page's files by their names. Throws MILLRACE_E_BUNDLED, also where the build has left out uPlot. */
export function pageFiles(): ReadonlyMap<string, string> {
  if (paths !== undefined) return paths;
  const page = packageFile(thisPackage, 'dashboard', 'the dashboard');
  const uplot = packageFile(thisPackage, 'dist/uplot', 'the dashboard');
  if (!existsSync(uplot)) {
    throw new MillraceError(
      'MILLRACE_E_BUNDLED',
      `the dashboard needs ${uplot}, which is missing; install millrace again, or run npm run build in its repository`,
    );
  }
  paths = new Map([
    ...readdirSync(page).map((name): [string, string] => [`/${name}`, join(page, name)]),
    ['/', join(page, 'index.html')],
    ['/uplot.js', join(uplot, 'uplot.js')],
    ['/uplot.css', join(uplot, 'uplot.css')],
  ]);
  return paths;
}

/** Returns a file; undefined when there is no such file. Read again each time, as requests are rare. */
function pageFile(path: string): { type: string; body: Buffer } | undefined {
  const file = pageFiles().get(path);
  if (file === undefined) return undefined;
  const extension = path === '/' ? 'html' : path.slice(path.lastIndexOf('.') + 1);
  return { type: types[extension]!, body: readFileSync(file) };
}
