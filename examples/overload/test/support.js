import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Generator } from '../control/generator.js';
import { startServer } from '../control/server.js';
import { iterationsFor } from '../servers/work.js';

const PATIENCE_MS = 60_000;

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
export async function startMain(t, args = []) {
  const main = run(['--port', '0', '--turn', '1', ...SMALL, ...args]);
  t.after(() => {
    main.child.kill('SIGTERM');
    return main.exited;
  });
  await until(() => /^listening on .*\n/m.test(main.output) || main.child.exitCode !== null);
  main.url = /^listening on (.*)$/m.exec(main.output)?.[1];
  return main;
}

/** Runs it with arguments that make it end by itself. */
export async function runToEnd(args) {
  const main = run(args);
  const { code } = await main.exited;
  return { code, output: main.output, errors: main.errors };
}

function run(args) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const main = { child, exited, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    main.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    main.errors += text;
  });
  return main;
}

/** Process ids of the children of a process. */
export function childrenOf(pid) {
  return processes()
    .filter(({ parent }) => parent === pid)
    .map((each) => each.pid);
}

/** Reports whether there is such a process. One that has ended and only waits for its parent to notice has ended. */
export function isRunning(pid) {
  return processes().some((each) => each.pid === pid && !each.state.startsWith('Z'));
}

/** All but the one that lists them. */
function processes() {
  const args = ['-A', '-o', 'pid=,ppid=,stat='];
  const { stdout, pid: lister } = spawnSync('ps', args, { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({ pid: Number(pid), parent: Number(parent), state }))
    .filter(({ pid }) => pid !== lister);
}

/** Waits for a condition that nothing announces. */
export async function until(condition) {
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for ${condition}`);
    await sleep(20);
  }
}

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
