import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { buildGenerator, runLoad } from '../index.js';
import { answeringServer, chatServer, rawServer, socketIoServer } from './servers.js';

const rejects = (options, code, message) =>
  assert.rejects(runLoad(options), (error) => {
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test('a bad option is named with its value and what is allowed', async () => {
  const code = 'MILLRACE_LAB_E_INVALID_OPTION';
  await rejects({ payload: 3 }, code, /^--payload 3: must be a whole number from 40 to 1048576/);
  await rejects({ mode: 'fast' }, code, /^--mode fast: must be one of closed\|open$/);
  await rejects({ slowReader: 1 }, code, /^--slow-reader: there is no such option/);
  const socketIo = { protocol: 'socket.io' };
  await rejects({ event: 'a' }, code, /^--event: belongs to --protocol socket\.io$/);
  await rejects({ ...socketIo, event: 'a"b' }, code, /^--event a"b: must be a name/);
  await rejects({ ...socketIo, reply: 'x'.repeat(101) }, code, /^--reply x+: must be a name/);
  await rejects({ ...socketIo, data: '{}' }, code, /^--data \{\}: must have "\{text\}" once/);
  await rejects({ to: 'others' }, code, /^--to others: belongs to --mode open/);
  await rejects({ protocol: 'chat', to: 'sender' }, code, /^--to: must be everyone/);
  await rejects({ host: '192.0.2.1' }, code, /must be this machine/);
});

test('a server that is not there is an error, not a report', async () => {
  const server = await rawServer();
  server.close();
  await rejects({ port: server.port }, 'MILLRACE_LAB_E_CONNECT', /Connection refused; 0 of 100/);
});

test('an answer that is no WebSocket handshake is quoted', async (t) => {
  const answers = [
    ['HTTP/1.1 404 Not Found\r\n\r\n', /answered "HTTP\/1.1 404 Not Found"/],
    [
      'HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n',
      /Accept does not fit/,
    ],
  ];
  for (const [answer, message] of answers) {
    const server = await answeringServer(answer);
    t.after(() => server.close());
    await rejects({ port: server.port, connections: 1 }, 'MILLRACE_LAB_E_CONNECT', message);
  }
});

test('a server that accepts and stays silent is given up', async (t) => {
  const server = await answeringServer('');
  t.after(() => server.close());
  const options = { port: server.port, connections: 3, connectTimeout: 0.3 };
  await rejects(options, 'MILLRACE_LAB_E_CONNECT', /0 of 3 connections .* then none for 0.3 s/);
});

test('a room that is never confirmed is given up', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const options = { port: server.port, protocol: 'chat', path: '/', connections: 1 };
  await rejects({ ...options, connectTimeout: 0.3 }, 'MILLRACE_LAB_E_CONNECT', /0 of 1/);
});

test('a connection that ends before it is usable is an error', async (t) => {
  const server = await chatServer({ welcome: (member) => member.close(1008, 'not you') });
  t.after(() => server.close());
  const options = { port: server.port, protocol: 'chat', connections: 1 };
  await rejects(options, 'MILLRACE_LAB_E_CONNECT', /before it was usable: .*not you/);
});

test('a namespace that refuses a connection is quoted', async (t) => {
  const server = await socketIoServer();
  server.io.use((_socket, next) => next(new Error('not you')));
  t.after(() => server.close());
  const options = { port: server.port, protocol: 'socket.io', connections: 1 };
  const message = /does not let connection 0 join: 44.*not you/;
  await rejects(options, 'MILLRACE_LAB_E_CONNECT', message);
});

test('progress is reported while it runs', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const lines = [];
  const options = { port: server.port, connections: 4, warmup: 0, seconds: 1.5, drain: 600 };
  const result = await runLoad(options, { onProgress: (line) => lines.push(line) });
  assert.equal(result.ok, true);
  // On a busy machine there are some while it connects, and a second may be without a delivery.
  const loaded = lines.filter(({ phase }) => phase !== 'connect');
  assert.deepEqual([loaded[0].phase, loaded[0].open], ['measure', 4]);
  assert.ok(loaded.every(({ second }, i) => second === i + 1));
  const told = loaded.reduce((sum, { deliveries }) => sum + deliveries, 0);
  assert.ok(told <= result.delivered, `${told} of ${result.delivered}`);
  assert.equal(result.per_quarter.length, 6);
  const inWindow = result.msgs_per_s * result.measured_s;
  const inQuarters = result.per_quarter.reduce((a, b) => a + b, 0);
  // The rate is told with one decimal.
  const off = Math.abs(inQuarters - inWindow);
  assert.ok(off <= 0.06 * result.measured_s, `${inQuarters}, ${inWindow}`);
});

test('the measured window is marked, apart from the progress', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const [marks, lines] = [[], []];
  const control = { onMark: (mark) => marks.push(mark), onProgress: (line) => lines.push(line) };
  const brief = { connections: 2, warmup: 0.8, seconds: 0.4, drain: 600 };
  await runLoad({ port: server.port, ...brief }, control);
  assert.deepEqual(marks, ['begin', 'end']);
  assert.deepEqual(
    lines.filter((line) => line.mark !== undefined),
    [],
  );
});

test('an abort ends the generator and rejects with the reason', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const abort = new AbortController();
  const reason = new Error('enough');
  const running = runLoad(
    { port: server.port, connections: 4, seconds: 600 },
    { signal: abort.signal, onProgress: () => abort.abort(reason) },
  );
  await assert.rejects(running, reason);
  await assert.rejects(runLoad({ port: server.port }, { signal: abort.signal }), reason);
});

test('a signal ends the run with a partial report', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  for (const signal of ['SIGINT', 'SIGTERM']) {
    const child = spawn(await buildGenerator(), [`--port=${server.port}`, '--seconds=600']);
    child.stderr.once('data', () => child.kill(signal));
    const exit = once(child, 'close');
    let output = '';
    for await (const chunk of child.stdout) output += chunk;
    const [code] = await exit;
    const result = JSON.parse(output);
    assert.equal(code, 0);
    assert.equal(result.partial, true);
    assert.equal(result.ok, true);
    assert.equal(result.lost, 0);
    assert.equal(result.delivered + result.under_way, result.expected);
  }
});

test('the exit code tells a fault from a good run', async (t) => {
  const server = await rawServer((member, text) => {
    member.send(text);
    member.send(text);
  });
  t.after(() => server.close());
  const brief = ['--connections=2', '--warmup=0', '--seconds=0.2', '--drain=600'];
  const args = [`--port=${server.port}`, ...brief, '--quiet'];
  const child = spawn(await buildGenerator(), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let noise = '';
  child.stderr.on('data', (data) => {
    noise += data;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.equal(noise, '');
});
