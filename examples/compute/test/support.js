import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { createService } from '../service.js';

const PATIENCE_MS = 60_000;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** An address that nobody answers at: the port is a privileged one that is hardly ever used. */
export const NOBODY = 'http://127.0.0.1:1/photos';

/** The service in this process, ended when the test ends. */
export async function start(t, options = {}) {
  const logged = [];
  const log = (line) => logged.push(line);
  const service = await createService({ threads: 2, queue: 10, photos: NOBODY, log, ...options });
  const { url, server } = await listen(t, service.server);
  t.after(() => service.close());
  return { ...service, url, server, logged };
}

/** A server, or any handler of requests, on a free port. */
export async function listen(t, handler) {
  const server = typeof handler === 'function' ? createServer(handler) : handler;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** The example as a process of its own, on a free port, ended when the test ends if it is still there. */
export async function startMain(t, args = []) {
  const folder = await temporaryFolder(t);
  const main = run(['--port', '0', ...args], { TMPDIR: folder });
  main.folder = folder;
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

function run(args, env = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
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

/** A request with a JSON answer, if it has one. No answer at all is a failure, too. */
export async function request(url, path, options) {
  const signal = AbortSignal.timeout(3 * PATIENCE_MS);
  const response = await fetch(url + path, { signal, ...options });
  const type = response.headers.get('content-type') ?? '';
  const body = type.startsWith('application/json') ? await response.json() : await response.text();
  return { status: response.status, headers: response.headers, body };
}

export function upload(url, body, headers = {}, signal = AbortSignal.timeout(3 * PATIENCE_MS)) {
  const options = { method: 'POST', body, headers, signal, duplex: 'half' };
  return request(url, '/process-large-file', options);
}

/** A connection that is written to by hand; what comes back is gathered in `text`. */
export async function rawConnection(t, url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.after(() => socket.destroy());
  const raw = { socket, text: '' };
  socket.setEncoding('utf8').on('data', (text) => {
    raw.text += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return raw;
}

/** A folder that goes with the test. */
export async function temporaryFolder(t) {
  const path = await mkdtemp(join(tmpdir(), 'compute-test-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const known = new WeakMap();

/** What the service has to say of these bytes, counted in another way, and in one go. */
export function counted(bytes) {
  if (!known.has(bytes)) known.set(bytes, countAgain(bytes));
  return known.get(bytes);
}

function countAgain(bytes) {
  const lines = bytes.toString('latin1').split('\n');
  return {
    bytes: bytes.length,
    lines: lines.length - 1,
    words: lines.join('\n').match(/[^ \t\n\v\f\r]+/g)?.length ?? 0,
    longestLine: lines.reduce((most, { length }) => Math.max(most, length), 0),
    crc32: crc32(bytes).toString(16).padStart(8, '0'),
  };
}

/** The same of what the service has answered. */
export const countsOf = ({ bytes, lines, words, longestLine, crc32 }) => ({
  bytes,
  lines,
  words,
  longestLine,
  crc32,
});
