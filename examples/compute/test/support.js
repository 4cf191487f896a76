import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { runProgram, startProgram, temporaryFolder } from '../../../scripts/lib/program-tests.js';
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
  const main = await startProgram(t, [MAIN, '--port', '0', ...args], { TMPDIR: folder });
  return { ...main, folder };
}

/** Runs it with arguments that make it end by itself. */
export const runToEnd = (args) => runProgram([MAIN, ...args]);

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
