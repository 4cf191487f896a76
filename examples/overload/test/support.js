import { fileURLToPath } from 'node:url';
import { runProgram, startProgram } from '../../../scripts/lib/program-tests.js';
import { Generator } from '../control/generator.js';
import { startServer } from '../control/server.js';
import { iterationsFor } from '../servers/work.js';

/** A small load, which leaves the machine time for the tests. */
export const SMALL = ['--capacity', '10', '--connections', '10'];

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** A server, ended when the test ends. */
export async function start(t, name, handlerMs) {
  const server = await startServer(name, handlerMs === 0 ? 1 : iterationsFor(handlerMs));
  t.after(() => server.end());
  return `http://127.0.0.1:${server.port}`;
}

export function startGenerator(t) {
  const generator = new Generator();
  t.after(() => generator.end());
  return generator;
}

/** The example as a process of its own, on a free port, ended when the test ends if it is still there. */
export const startMain = (t, args = []) =>
  startProgram(t, [MAIN, '--port', '0', '--turn', '1', ...SMALL, ...args]);

/** Runs it with arguments that make it end by itself. */
export const runToEnd = (args) => runProgram([MAIN, ...args]);

/** A request with a JSON answer. */
export async function request(url, path, options) {
  const response = await fetch(url + path, options);
  const type = response.headers.get('content-type') ?? '';
  const body = type.includes('json') ? await response.json() : await response.text();
  return { status: response.status, headers: response.headers, body };
}

export function change(url, settings) {
  return request(url, '/api/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: typeof settings === 'string' ? settings : JSON.stringify(settings),
  });
}

/** Reads server-sent events. */
export class EventReader {
  #frames;

  static async open(t, url) {
    const ended = new AbortController();
    t.after(() => ended.abort());
    const response = await fetch(`${url}/api/events`, { signal: ended.signal });
    const reader = new EventReader();
    reader.#frames = frames(response.body);
    return reader;
  }

  /** The next event of this name that matches; what comes before it is skipped. */
  async next(name, matches = () => true) {
    for (;;) {
      const { value, done } = await this.#frames.next();
      if (done) throw new Error(`the events ended before ${name}`);
      if (value.name === name && matches(value.data)) return value.data;
    }
  }
}

async function* frames(body) {
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (name) yield { name, data: JSON.parse(data) };
    }
  }
}
