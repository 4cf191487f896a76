/** Sticky sessions: each client has its process. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { start, still } from './program.js';

const clients = Array.from({ length: 12 }, (_, i) => `127.0.0.${i + 1}`);

/** The process of each of them. */
const pidsOf = (program, options) =>
  Promise.all(
    clients.map(async (client) => Number((await program.get('/', options(client))).text)),
  );

const byAddress = (localAddress) => ({ localAddress });

test('by address: each client has a process, and the same slot after a reload or a death', async (t) => {
  const program = await start(t, 'plain.js', { workers: 3, sticky: true, idleGrace: 0 });
  const first = await pidsOf(program, byAddress);
  assert.equal(new Set(first).size, 3);
  assert.deepEqual(await pidsOf(program, byAddress), first);

  const slots = await slotsOf(program, first);
  await program.call('reload');
  const second = await pidsOf(program, byAddress);
  assert.deepEqual(await slotsOf(program, second), slots);

  process.kill(second[0], 'SIGKILL');
  const { pid } = await program.next('ready');
  const third = second.map((each) => (each === second[0] ? pid : each));
  assert.deepEqual(await pidsOf(program, byAddress), third);
});

test('by header: each value has a process, and no connection is used for a second one', async (t) => {
  const program = await start(t, 'plain.js', { workers: 3, sticky: { header: 'X-Forwarded-For' } });
  const byHeader = (client) => ({ headers: { 'x-forwarded-for': `${client}, 10.0.0.1` } });
  const first = await pidsOf(program, byHeader);
  assert.equal(new Set(first).size, 3);
  assert.deepEqual(await pidsOf(program, byHeader), first);
  const { headers } = await program.get('/', { headers: { connection: 'keep-alive' } });
  assert.equal(headers.connection, 'close');
});

test('by cookie: the connection is kept if it says so', async (t) => {
  const program = await start(t, 'plain.js', {
    workers: 3,
    sticky: { cookie: 'io', keepAlive: true },
  });
  const byCookie = (client) => ({ headers: { cookie: `a=b; io=${client}` } });
  const first = await pidsOf(program, byCookie);
  assert.equal(new Set(first).size, 3);
  assert.deepEqual(await pidsOf(program, byCookie), first);
  const { headers } = await program.get('/', { headers: { connection: 'keep-alive' } });
  assert.equal(headers.connection, 'keep-alive');
});

test('a head that comes in pieces, with a body behind it, arrives as it was sent', async (t) => {
  const program = await start(t, 'digest.js', { workers: 2, sticky: { header: 'x-id' } });
  const body = randomBytes(300_000);
  const head = `POST / HTTP/1.1\r\nHost: a\r\nX-Id: 1\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(program.port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.setNoDelay(true);
  for (const byte of head.slice(0, -1)) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  socket.write(Buffer.concat([Buffer.from('\n'), body]));
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1.1 200/);
  assert.equal(text.split('\r\n\r\n')[1], createHash('sha256').update(body).digest('hex'));
});

test('a client that leaves before its head is complete is nobody', async (t) => {
  const program = await start(t, 'plain.js', { sticky: { header: 'x-id' } });
  const socket = connect(program.port, '127.0.0.1');
  socket.end('GET / HT');
  socket.resume();
  await once(socket, 'close');
  assert.equal((await program.get()).status, 200);
  const { waitingConnections, processes } = await program.call('stats');
  assert.deepEqual([waitingConnections, processes[0].accepted], [0, 1]);
});

test('a client that has not sent all of its head waits, and is served at the end', async (t) => {
  // The primary waits for as long as the test does.
  const options = { sticky: { header: 'x-id' }, idleGrace: 60_000, execArgv: [] };
  const program = await start(t, 'plain.js', options, { execArgv: still });
  const socket = connect(program.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
  await once(socket, 'connect');
  // It was accepted before that one.
  await program.get();
  assert.equal((await program.call('stats')).waitingConnections, 1);
  program.child.kill('SIGTERM');
  await program.wrote('drains');
  socket.write('\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1.1 200/);
  assert.equal((await program.exited).code, 0);
});

test('encrypted connections are distinguished by address', async (t) => {
  const program = await start(t, 'secure.js', { workers: 2, sticky: { header: 'x-id' } });
  const ask = async () => {
    const socket = tls.connect({
      port: program.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text.split('\r\n\r\n')[1];
  };
  const [first, second] = [await ask(), await ask()];
  assert.match(first, /\d+/);
  assert.equal(second, first);
});

async function slotsOf(program, pids) {
  const { processes } = await program.call('stats');
  return pids.map((pid) => processes.find((each) => each.pid === pid).slot);
}
