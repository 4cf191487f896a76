/** How processes end. Injected: requests that take long or for ever, a primary that is killed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import WebSocket from 'ws';
import { gate, get, start, still } from './program.js';

test('SIGTERM: requests are answered, the last one on its connection; idle connections are closed; code 0', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2, idleGrace: 50 });
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  await Promise.all([program.get('/', { agent }), program.get('/', { agent })]);
  const idle = Object.values(agent.freeSockets).flat();
  assert.equal(idle.length, 2);
  const closed = Promise.all(idle.map((socket) => once(socket, 'close')));

  const kept = new http.Agent({ keepAlive: true });
  t.after(() => kept.destroy());
  const last = program.get('/drained', { agent: kept });
  await program.wrote('waits');
  program.child.kill('SIGTERM');
  const { status, headers } = await last;
  assert.deepEqual([status, headers.connection], [200, 'close']);
  await closed;
  assert.deepEqual(await program.exited, { code: 0, signal: null });
  // Its onClose() has run.
  assert.equal(program.stdout.match(/closed/g).length, 2);
  await assert.rejects(get(program.port, '/'), { code: 'ECONNREFUSED' });
});

test('as long as somebody asks on them, connections are kept for one more answer', async (t) => {
  const program = await start(t, 'plain.js', { idleGrace: 60_000 });
  const agents = Array.from({ length: 4 }, () => new http.Agent({ keepAlive: true }));
  t.after(() => agents.forEach((agent) => void agent.destroy()));
  const ask = () => Promise.all(agents.map((agent) => program.get('/', { agent })));
  for (const { headers } of await ask()) assert.equal(headers.connection, 'keep-alive');
  program.child.kill('SIGTERM');
  await program.wrote('drains');
  for (const { status, headers } of await ask()) {
    assert.deepEqual([status, headers.connection], [200, 'close']);
  }
  assert.equal((await program.exited).code, 0);
});

test('connections that were accepted are served, also if no process had time for them', async (t) => {
  const program = await start(t, 'plain.js');
  const { query, open } = await gate(t);
  const blocked = program.get(`/block-until?${query}`);
  await program.wrote('blocked');
  const waiting = Array.from({ length: 4 }, () => program.get());
  while ((await program.call('stats')).waitingConnections < 4);
  program.child.kill('SIGTERM');
  while ((await program.call('stats')).status !== 'draining');
  await open();
  for (const { status } of await Promise.all([blocked, ...waiting])) assert.equal(status, 200);
  assert.equal((await program.exited).code, 0);
});

test('a process that does not finish within drainTimeout is killed; code 1', async (t) => {
  const program = await start(t, 'plain.js', { drainTimeout: 100 });
  // It does not even hear of it.
  const never = assert.rejects(program.get('/block?ms=600000'), { code: 'ECONNRESET' });
  await program.wrote('blocked');
  program.child.kill('SIGINT');
  await never;
  assert.deepEqual(await program.exited, { code: 1, signal: null });
  assert.match(program.stderr, /killed: drainTimeout/);
});

test('nor who drains by a signal of its own', async (t) => {
  const program = await start(t, 'plain.js', { drainTimeout: 100, idleGrace: 0 });
  const [pid] = await program.pids();
  const never = assert.rejects(program.get('/slow?ms=600000&spin&say'), {
    code: 'ECONNRESET',
  });
  await program.wrote('slow');
  process.kill(pid, 'SIGTERM');
  await never;
  const { isLate, signal, pid: dead } = await program.next('death');
  assert.deepEqual([dead, isLate, signal], [pid, true, 'SIGKILL']);
});

/** A process whose timers go on by the grace at each step, and a connection to it. */
async function connected(t) {
  const idleGrace = 600;
  const env = { STEP_MS: String(idleGrace) };
  const program = await start(t, 'plain.js', { idleGrace, execArgv: still }, { env });
  const [pid] = await program.pids();
  const socket = connect(program.port, '127.0.0.1');
  t.after(() => socket.destroy());
  return { program, pid, socket };
}

test('a request whose head is still arriving is answered', async (t) => {
  const { program, pid, socket } = await connected(t);
  await sent(socket, 'GET / HTTP/1.1\r\nHost: a\r\n');
  await accepted(program, 1);
  program.child.kill('SIGTERM');
  await program.wrote('drains');
  for (let i = 0; i < 3; i++) {
    await sent(socket, 'X: 1\r\n');
    await program.step(pid);
  }
  socket.write('\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1.1 200/);
  assert.equal((await program.exited).code, 0);
});

test('a connection on which nothing has come for the grace is closed', async (t) => {
  const { program, pid, socket } = await connected(t);
  await sent(socket, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  program.child.kill('SIGTERM');
  await program.wrote('drains');
  const closed = once(socket.resume(), 'close');
  process.kill(pid, 'SIGUSR2');
  await closed;
  assert.equal((await program.exited).code, 0);
});

test('a request that came while the process was blocked for longer than the grace is answered', async (t) => {
  const program = await start(t, 'plain.js', { idleGrace: 1 });
  const { query, open } = await gate(t);
  const socket = connect(program.port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await sent(socket, `GET /block-drained?${query} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'data');
  program.child.kill('SIGTERM');
  await program.wrote('blocked');
  const closed = once(socket, 'close');
  await sent(socket, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await open();
  await closed;
  assert.equal(text.match(/HTTP\/1\.1 200/g).length, 2);
  assert.match(text, /^Connection: close/m);
  assert.equal((await program.exited).code, 0);
});

test('a second signal ends everything at once', async (t) => {
  const program = await start(t, 'plain.js');
  const never = assert.rejects(program.get('/slow?ms=600000&say'));
  await program.wrote('slow');
  program.child.kill('SIGTERM');
  while ((await program.call('stats')).status !== 'draining');
  program.child.kill('SIGTERM');
  await never;
  assert.deepEqual(await program.exited, { code: 143, signal: null });
});

test('WebSockets have a hook', async (t) => {
  const program = await start(t, 'rooms.js');
  const socket = new WebSocket(`ws://127.0.0.1:${program.port}`);
  t.after(() => socket.terminate());
  await once(socket, 'message');
  const closed = once(socket, 'close');
  program.child.kill('SIGTERM');
  assert.equal((await closed)[0], 1001);
  assert.equal((await program.exited).code, 0);
});

test('encrypted connections that were never used are closed, too', async (t) => {
  const program = await start(t, 'secure.js', { idleGrace: 50 });
  const socket = tls.connect({ port: program.port, host: '127.0.0.1', rejectUnauthorized: false });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  program.child.kill('SIGTERM');
  socket.resume();
  await once(socket, 'close');
  assert.deepEqual(await program.exited, { code: 0, signal: null });
});

test('streams of HTTP/2 are finished, and their sessions closed', async (t) => {
  const program = await start(t, 'http2.js', { idleGrace: 60_000 });
  const session = http2.connect(`http://127.0.0.1:${program.port}`);
  t.after(() => session.destroy());
  const slow = session.request({ ':path': '/' }).setEncoding('utf8');
  await once(slow, 'response');
  const closed = once(session, 'close');
  program.child.kill('SIGTERM');
  let text = '';
  for await (const chunk of slow) text += chunk;
  assert.equal(text, 'first last');
  await closed;
  assert.deepEqual(await program.exited, { code: 0, signal: null });
});

test('a process that gets a SIGTERM of its own finishes, and another one takes its place', async (t) => {
  const program = await start(t, 'plain.js', { idleGrace: 0 });
  const [pid] = await program.pids();
  const slow = program.get('/slow?ms=300&say');
  await program.wrote('slow');
  process.kill(pid, 'SIGTERM');
  const { pid: other } = await program.next('ready');
  assert.equal(Number((await program.get()).text), other);
  assert.equal(Number((await slow).text), pid);
  while ((await program.pids()).includes(pid));
  assert.equal((await program.call('stats')).deaths, 0);
});

test('when the primary is killed its processes finish what they have, and end', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2, idleGrace: 50 });
  const slow = program.get('/slow?ms=300&say');
  await program.wrote('slow');
  program.child.kill('SIGKILL');
  assert.equal((await slow).status, 200);
  // It waits for all that have its stdout.
  assert.equal((await program.exited).signal, 'SIGKILL');
});

test('closed by a call, the program goes on', async (t) => {
  const program = await start(t, 'plain.js', { signals: false, idleGrace: 0 });
  await program.call('close');
  await program.next('close');
  const { status, processes } = await program.call('stats');
  assert.deepEqual([status, processes], ['draining', []]);
  await assert.rejects(program.call('reload'), { code: 'MILLRACE_E_CLOSED' });
});

/** Resolves when the system has the bytes: they are read by a process that looks from now on. */
const sent = (socket, text) => new Promise((resolve) => socket.write(text, resolve));

/** Resolves when its processes have taken so many connections. */
async function accepted(program, count) {
  for (;;) {
    const { processes } = await program.call('stats');
    if (processes.reduce((sum, each) => sum + each.accepted, 0) >= count) return;
  }
}
