/**
 * Every entry point on a runtime, Node.js or another: it works, or says clearly that it does not. Run it with `bun`, `deno run -A` or
 * `node`. With a path as its argument it leaves there how many checks passed, for the step of `make test-matrix`.
 */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { version } from '@millrace/pool';
import { BatchEmitter, batch, MillraceError, native, nativeError } from 'millrace';
import { appendFile, readFile, writeFile } from 'millrace/fs';
import { coalesce, enlarge } from 'millrace/net';
import { api } from 'millrace/threads';
import { install, millraceAdapter, Rooms } from 'millrace/ws';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { WebSocket, WebSocketServer } from 'ws';
import { typed } from '../../../../scripts/lib/paths.js';
import { natsServer, unable } from '../../../nats/test/nats.js';

const { bun, deno, node } = process.versions;
const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node.js ${node}`;

/** A check hangs no longer than this, in ms; one that is in order takes a hundredth of it. */
const limitMs = 60_000;

const packages = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of a package's programs, each of which uses one entry point, and what they are given. */
const programs = (name) => join(packages, name, 'test-package/bundled');
const task = join(packages, '../scripts/lib/bundled/task.mjs');
const refused = (who, what) => ({
  code: 'MILLRACE_E_RUNTIME',
  message: `${who} ${what}; use Node.js for it`,
});
const notCounted = (who) =>
  refused(who, `needs the time for which the loop has slept, which ${runtime} does not count`);

/** Something that a check needs is not installed here. */
class Unable extends Error {}

/** Each returns what there is to say, if anything. */
const checks = {
  async 'the addon is used, or it is said why not'() {
    if (bun || deno) {
      assert.equal(native, null);
      assert.equal(nativeError, `${runtime} has no libuv for it`);
    }
    return native ? 'with the addon' : `in JavaScript: ${nativeError}`;
  },

  async 'BatchEmitter: events of a turn come together, the important first, in their context'() {
    const context = new AsyncLocalStorage();
    const emitter = new BatchEmitter({ retain: true, maxDeferral: 3_600_000 });
    const batches = [];
    emitter.onBatch('metric', (values) => batches.push(values));
    emitter.on('alert', (value) => batches.push([value, context.getStore()]));
    emitter.configure('alert', { priority: 'high' });
    emitter.emit('metric', 1);
    emitter.emit('metric', 2);
    context.run('of the push', () => emitter.emit('alert', 3));
    emitter.emit('nobody listens yet', 4);
    assert.deepEqual(batches, []);
    await turn();
    await turn();
    assert.deepEqual(batches, [
      [3, 'of the push'],
      [1, 2],
    ]);
    const late = once(emitter, 'nobody listens yet');
    assert.deepEqual(await late, [4]);
  },

  async 'batch(): calls of a tick are one, each with its own result'() {
    const sizes = [];
    const double = batch(async (items) => {
      sizes.push(items.length);
      return items.map((item) => (item < 0 ? new RangeError(`${item}`) : item * 2));
    });
    const [one, two, bad] = await Promise.allSettled([double(1), double(2), double(-1)]);
    assert.deepEqual([one.value, two.value, bad.reason.message], [2, 4, '-1']);
    assert.deepEqual(sizes, [3]);
  },

  async 'millrace/fs: files are written, appended to and read, errors are those of the runtime'() {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-runtime-'));
    try {
      const path = join(folder, 'file');
      await writeFile(path, 'a');
      await Promise.all([appendFile(path, 'b'), appendFile(path, 'c', { durable: true })]);
      const [text, bytes] = await Promise.all([readFile(path, 'utf8'), readFile(path)]);
      assert.deepEqual([text, String(bytes)], ['abc', 'abc']);
      await assert.rejects(readFile(join(folder, 'missing')), { code: 'ENOENT' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },

  async 'coalesce(): the writes of a turn leave together, in order'() {
    await withSockets(async (near, far) => {
      const coalescer = coalesce(near);
      const received = collect(far);
      for (let digit = 0; digit < 10; digit++) near.write(String(digit));
      near.end('.');
      assert.equal(String(await received), '0123456789.');
      assert.ok(coalescer.stats().coalesced >= 9);
    });
  },

  async 'enlarge(): every byte arrives, whether it is in effect or not'() {
    let active;
    await withSockets(async (near, far) => {
      const enlarged = enlarge(far);
      const received = collect(far);
      near.end(Buffer.alloc(3_000_000, 'x'));
      assert.equal((await received).length, 3_000_000);
      active = enlarged.active;
    });
    if (native === null) assert.equal(active, false);
    return `active: ${active}`;
  },

  async 'millrace/threads is there, or refused'() {
    if (native) assert.ok(api());
    else return `refused: ${assertThrows(api, 'MILLRACE_E_NATIVE').message}`;
  },

  async 'Rooms: everybody gets every message, in order'() {
    await withHall(async ({ sockets, arrived }) => {
      const rooms = new Rooms({ maxDeferral: 3_600_000 });
      for (const socket of sockets) rooms.join(socket, 'lobby');
      rooms.publish('lobby', 'second');
      rooms.publish('lobby', new Uint8Array([1, 2, 3]));
      rooms.publish('lobby', 'x'.repeat(100_000));
      rooms.publish('lobby', 'first', { priority: 'high' });
      await arrived(4);
      return ['first', 'second', [1, 2, 3], 'x'.repeat(100_000)];
    });
  },

  async 'Rooms: a client that does not read is closed, the others go on'() {
    await withHall(async ({ server, sockets, arrived }) => {
      const lost = [];
      const rooms = new Rooms({ maxPending: 1 << 20, onSlow: (info) => lost.push(info) });
      for (const socket of sockets) rooms.join(socket, 'lobby');
      const joined = once(server, 'connection');
      const deaf = await connectDeaf(server);
      const [socket] = await joined;
      rooms.join(socket, 'lobby');
      const closed = once(socket, 'close');
      const sent = [];
      while (lost.length === 0) {
        rooms.publish('lobby', 'y'.repeat(100_000));
        sent.push('y'.repeat(100_000));
        await arrived(sent.length);
      }
      assert.deepEqual([lost[0].action, lost[0].socket === socket], ['closed', true]);
      deaf.destroy();
      await closed;
      return sent;
    });
  },

  async 'Rooms: a WebSocket of the runtime itself is refused, whatever its state'() {
    if (globalThis.WebSocket === undefined) return 'there is none';
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const socket = new globalThis.WebSocket(`ws://127.0.0.1:${server.address().port}`);
    const refuse = () =>
      assertThrows(() => new Rooms().join(socket, 'lobby'), 'MILLRACE_E_INVALID_ARGUMENT');
    refuse();
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    const { message } = refuse();
    socket.close();
    server.close();
    return message;
  },

  async 'socket.io with the adapter: a room gets what is sent to it, and nobody else'() {
    const http = createHttpServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const server = new Server(http, { adapter: millraceAdapter() });
    const clients = [];
    const received = [[], [], []];
    try {
      server.on('connection', (socket) =>
        socket.on('join', (room, done) => done(socket.join(room))),
      );
      for (const messages of received) {
        const url = `http://127.0.0.1:${http.address().port}`;
        const client = io(url, { transports: ['websocket'], forceNew: true });
        clients.push(client);
        client.on('news', (...news) => messages.push(news));
        await new Promise((resolve, reject) => {
          client.on('connect', resolve);
          client.on('connect_error', reject);
        });
      }
      for (const client of clients.slice(0, 2)) await client.emitWithAck('join', 'room');
      server.to('room').emit('news', 1, { two: 3 });
      server.emit('news', 'for all');
      const last = clients.map((client) => client.timeout(limitMs).emitWithAck('join', 'another'));
      await Promise.all(last);
      const forAll = ['for all'];
      assert.deepEqual(received, [[[1, { two: 3 }], forAll], [[1, { two: 3 }], forAll], [forAll]]);
    } finally {
      for (const client of clients) client.disconnect();
      await server.close();
    }
  },

  async 'install(): sockets of ws send at the end of the turn, or it is refused'() {
    if (bun) {
      const { message } = assertThrows(() => install(WebSocket), 'MILLRACE_E_INVALID_ARGUMENT');
      assert.match(message, /Bun has a class of its own; Rooms works with it$/);
      return `refused: ${message}`;
    }
    const installation = install(WebSocket);
    try {
      await withHall(async ({ sockets, arrived }) => {
        for (const socket of sockets) {
          socket.send('one');
          socket.send(new Uint8Array([1, 2, 3]));
        }
        await arrived(2);
        return ['one', [1, 2, 3]];
      });
      const { frames, encoded } = installation.stats();
      assert.equal(frames, 6);
      assert.ok(encoded < frames);
    } finally {
      installation.uninstall();
    }
  },
};

/** Entry points that have a check above, or below. */
const checked = ['', '/auto', '/fs', '/net', '/threads', '/ws', '/ws/socket-io'].map(
  (path) => `millrace${path}`,
);

/**
 * The other entry points, by a program of its own for each: its file in `test-package/bundled`, and what it prints. `bun` and `deno`: what it
 * prints there, where that differs.
 */
const app = join(programs('cluster'), 'app.mjs');
const entries = {
  '@millrace/cluster': {
    file: 'cluster',
    given: app,
    works: { texts: ['served', 'from a file'] },
    bun: refused('serve()', `hands connections to its processes, which ${runtime} cannot do`),
  },
  '@millrace/cluster/r-load-balancer': {
    file: 'r-load-balancer',
    works: { measured: true, results: [2, 4] },
  },
  '@millrace/guard': { file: 'guard', works: { text: 'guarded', admitted: 1 } },
  '@millrace/guard/cached': {
    file: 'cached',
    works: { settings: 'MILLRACE_E_INVALID_OPTION', texts: ['run 1', 'run 1'] },
  },
  '@millrace/guard/requests': { file: 'requests', works: { routes: ['GET /users/:id'] } },
  'millrace/dashboard': { file: 'dashboard', works: { statuses: [200, 200, 200] } },
  'millrace/observe': {
    file: 'observe',
    works: { text: 'string', reads: 2, pid: true },
    bun: notCounted('observe()'),
    deno: notCounted('observe()'),
  },
  'millrace/pg': { file: 'pg', works: { code: 'MILLRACE_E_INVALID_ARGUMENT' } },
  '@millrace/monitor': {
    file: 'monitor',
    works: { measured: true },
    bun: notCounted('monitor()'),
    deno: notCounted('monitor()'),
  },
  '@millrace/monitor/metrics': {
    file: 'metrics',
    works: { name: 'enlarged_connections_total', value: 2, type: 'function' },
  },
  '@millrace/nats/events': { file: 'events', works: { args: [1, { two: 2 }] }, broker: true },
  '@millrace/nats/rooms': { file: 'rooms', works: { states: ['closed', 'closed'] }, broker: true },
  '@millrace/nats/socket-io': {
    file: 'socket-io',
    works: { type: 'function', stats: null, code: 'MILLRACE_E_INVALID_ARGUMENT' },
    broker: true,
  },
  '@millrace/nats/tasks': {
    file: 'tasks',
    works: { results: [2, 4, 6], stored: 3 },
    broker: true,
  },
  '@millrace/pool': {
    file: 'pool',
    works: { version, results: [2, 4, 6], failure: ['RangeError', 'negative', 'E_NEGATIVE'] },
  },
};
for (const [entry, { file, given = task, works, broker, ...others }] of Object.entries(entries)) {
  checks[`${entry} works, or is refused`] = async () => {
    if (broker && unable) throw new Unable(unable);
    const expected = (bun && others.bun) || (deno && others.deno) || works;
    const folder = entry.split('/')[entry.startsWith('@') ? 1 : 0];
    const program = join(programs(folder), `${file}.mjs`);
    const ends = [];
    try {
      const t = { after: (end) => ends.push(end) };
      const env = broker ? { BROKER: (await natsServer(t, { jetstream: true })).url } : {};
      assert.deepEqual(JSON.parse(await run(program, [given, tmpdir()], env)), expected);
    } finally {
      for (const end of ends) await end();
    }
    return expected.message;
  };
}

checks['every entry point of every package loads'] = async () => {
  const program = fileURLToPath(new URL('loads.mjs', import.meta.url));
  const all = [...typed, 'lab'].flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
    const paths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
    return paths.map((path) => path.replace('.', manifest.name));
  });
  const { loaded, empty } = JSON.parse(await run(program, all));
  assert.deepEqual({ loaded, empty }, { loaded: all.length, empty: [] });
  // The exports of base are for our own packages, and the lab starts programs of Node.js.
  const excepted = /^@millrace\/(base|lab)\//;
  const known = [...checked, ...Object.keys(entries)];
  assert.deepEqual(all.filter((entry) => !excepted.test(entry)).toSorted(), known.toSorted());
  return `${loaded} entry points`;
};

checks['auto: the application does the same; a feature acts, or says why it cannot'] = async () => {
  const program = fileURLToPath(new URL('under-auto.js', import.meta.url));
  const { done, features } = JSON.parse(await run(program, [], { MILLRACE: 'all' }));
  assert.deepEqual(done, {
    files: 1,
    answer: 'answered',
    messages: Array.from({ length: 20 }, (_, i) => i),
    received: 3_000_000,
  });
  assert.equal(features.length, 7);
  return features.map(({ name, state, why }) => `${name} ${why ?? state}`).join(', ');
};

/** Runs a program on this runtime; nothing may be said on stderr. */
async function run(program, args, env = {}) {
  const before = deno ? ['run', '--allow-all', '--quiet', '--no-lock'] : [];
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...before, program, ...args],
    { env: { ...process.env, ...env }, timeout: limitMs },
  );
  assert.equal(stderr, '');
  return stdout;
}

function assertThrows(work, code) {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof MillraceError);
    assert.equal(error.code, code);
    return error;
  }
  assert.fail('nothing is thrown');
}

async function withSockets(use) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const near = connect(server.address().port, '127.0.0.1');
  await once(near, 'connect');
  const [far] = await accepted;
  try {
    await use(near, far);
  } finally {
    near.destroy();
    far.destroy();
    server.close();
  }
}

async function collect(socket) {
  const chunks = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** A server with three clients; each must have received what `use` returns. */
async function withHall(use) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const clients = [];
  const sockets = [];
  const received = [];
  let changed = () => {};
  try {
    for (let i = 0; i < 3; i++) {
      const joined = once(server, 'connection');
      const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
      clients.push(client);
      const messages = [];
      received.push(messages);
      client.on('message', (data, isBinary) => {
        messages.push(isBinary ? [...data] : String(data));
        changed();
      });
      await once(client, 'open');
      sockets.push((await joined)[0]);
    }
    const arrived = async (count) => {
      while (!received.every(({ length }) => length >= count)) {
        await new Promise((resolve) => {
          changed = resolve;
        });
      }
    };
    const expected = await use({ server, sockets, arrived });
    for (const messages of received) assert.deepEqual(messages, expected);
  } finally {
    for (const client of clients) client.terminate();
    server.close();
  }
}

/** A client that has shaken hands and never reads again. */
async function connectDeaf(server) {
  const { port } = server.address();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const lines = [
    'GET / HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

function limited(promise) {
  const { promise: late, reject } = withResolvers();
  const timer = setTimeout(() => reject(new Error(`not done after ${limitMs} ms`)), limitMs);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** `Promise.withResolvers`, which Node.js 20 lacks. */
function withResolvers() {
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
  return result;
}

const tally = { passed: 0, failed: 0, skipped: 0, failedNames: [], skippedNames: [], said: [] };
for (const [name, check] of Object.entries(checks)) {
  try {
    const said = await limited(check());
    tally.passed++;
    if (said) tally.said.push(`${name.split(':')[0]}: ${said}`);
    console.log(`ok      ${name}${said ? ` (${said})` : ''}`);
  } catch (error) {
    if (error instanceof Unable) {
      tally.skipped++;
      tally.skippedNames.push(`${name}: ${error.message}`);
      console.log(`skipped ${name} (${error.message})`);
      continue;
    }
    tally.failed++;
    tally.failedNames.push(name);
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
console.log(`${runtime}: ${tally.passed} passed, ${tally.failed} failed`);
if (process.argv[2]) writeFileSync(process.argv[2], JSON.stringify(tally));
process.exit(tally.failed > 0 ? 1 : 0);
