import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { serveDashboard } from 'millrace/dashboard';
import { until } from '../../../../../scripts/lib/program-tests.js';

/** A dashboard on a free port, closed when the test ends. */
export async function serve(t, options = {}) {
  const dashboard = await serveDashboard({ port: 0, ...options });
  t.after(() => dashboard.close());
  return dashboard;
}

/** A feature that does nothing but know its state. */
export function feature(name) {
  return {
    name,
    state: 'active',
    why: null,
    on() {
      this.state = 'active';
    },
    off() {
      this.state = 'off';
    },
  };
}

/** A request of node:http, which unlike fetch() sends any header. */
export async function ask(
  { port },
  path,
  { method = 'GET', headers = {}, body = '', keepAlive = false } = {},
) {
  const agent = keepAlive ? new Agent({ keepAlive }) : false;
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const isJson = response.headers['content-type'] === 'application/json';
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

/** Switches a feature as the page does. */
export function change(dashboard, body, headers = {}) {
  return ask(dashboard, '/api/features', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Server-sent events as they come. */
export async function watch(t, { port }, headers = {}) {
  const sent = request({ host: '127.0.0.1', port, path: '/api/events', headers, agent: false });
  sent.end();
  t.after(() => sent.destroy());
  const [response] = await once(sent, 'response');
  const events = [];
  let text = '';
  response.on('error', () => {});
  if (response.statusCode !== 200) response.resume();
  else
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const fields = text
          .slice(0, end)
          .split('\n')
          .map((line) => /^(\w+): (.*)$/.exec(line).slice(1));
        text = text.slice(end + 2);
        const { id, event, data, retry } = Object.fromEntries(fields);
        if (event) events.push({ id, event, data: JSON.parse(data) });
        else events.push({ event: 'retry', data: Number(retry) });
      }
    });
  return {
    status: response.statusCode,
    events,
    close: () => sent.destroy(),
    next: (name, matches = () => true) =>
      until(() => events.find(({ event, data }) => event === name && matches(data))),
    count: (name) => events.filter(({ event }) => event === name).length,
  };
}

/** The socket of a feed that is written by hand, and what came back. */
export async function openFeed(t, { port, feedToken }, token = feedToken) {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  const feed = { socket, text: '', closed: false };
  socket.setEncoding('utf8').on('data', (chunk) => {
    feed.text += chunk;
  });
  socket.on('close', () => {
    feed.closed = true;
  });
  socket.write(
    `GET /feed HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: millrace-feed\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await until(() => feed.text.includes('\r\n\r\n'));
  return feed;
}

export const processInfo = { id: '77/1', pid: 77, thread: 1, role: 'thread', title: 'made up' };

/** The processes that a dashboard knows. */
export async function processes(dashboard) {
  return (await ask(dashboard, '/api/snapshot')).body.processes;
}
