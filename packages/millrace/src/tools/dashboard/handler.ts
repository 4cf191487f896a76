/** What the dashboard's server answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { wallClock } from '@millrace/base/timers';
import { contentType, exposition } from '@millrace/monitor/metrics';
import { securityHeaders } from './access.js';
import { refuse, send, sendJson } from './answer.js';
import { type Door, mayEnter } from './entry.js';
import { pageFile } from './files.js';
import type { Hub } from './hub.js';
import { switchFeature } from './switching.js';

/** Each has a socket and gets each sample. */
const mostViewers = 16;

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
    // nginx holds answers back otherwise.
    'X-Accel-Buffering': 'no',
  });
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
    at: wallClock.now(),
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
