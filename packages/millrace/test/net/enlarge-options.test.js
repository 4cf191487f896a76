/** Bad input, idempotence, sockets that are refused, and those that are left as they are. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, createServer as createHttp, get, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls, createServer as createTls, TLSSocket } from 'node:tls';
import { enlarge } from 'millrace/net';
import { certificate } from '../ws/certificate.js';
import { chunksOf, digestOf, found, on, send } from './bulk.js';
import { openPair, turn } from './pair.js';

const bytes = 6 * 1024 * 1024;
const expected = digestOf(chunksOf(bytes));

const refusal = (code, words) => (error) => {
  assert.equal(error.name, 'MillraceError');
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), error.message);
  return true;
};

async function all(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

test('anything but a net.Socket is refused', () => {
  for (const [socket, word] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [17, '17'],
    [new PassThrough(), 'an object (PassThrough)'],
  ]) {
    const words = [word, 'must be a net.Socket'];
    assert.throws(() => enlarge(socket), refusal('MILLRACE_E_INVALID_ARGUMENT', words));
  }
});

test('bad options are refused, and nothing has changed', async (t) => {
  const { socket } = await openPair(t);
  const listeners = socket.listenerCount('connect');
  for (const [options, ...words] of [
    [{ minRead: 4095 }, "'minRead'", '4095', 'from 4096 to'],
    [{ minRead: 8192, maxRead: 8191 }, "'maxRead'", '8191', "at least 'minRead', which is 8192"],
    [{ maxRead: 2 ** 24 + 1 }, "'maxRead'", 'from 4096 to 16777216'],
    [{ maxRead: 65_536.5 }, '65536.5'],
    [{ maxRead: '1 MB' }, '"1 MB"'],
    [{ growAfter: 0 }, "'growAfter'", 'from 1 to 1000'],
    [{ shrinkAfter: 1_000_001 }, "'shrinkAfter'", 'from 1 to 1000000'],
    [{ raiseAfter: null }, "'raiseAfter'", 'null'],
    [{ receiveBuffer: -1 }, "'receiveBuffer'", '-1', 'from 0 to 2147483647'],
    [{ sendBuffer: Number.NaN }, "'sendBuffer'", 'NaN'],
    [{ maxTurn: 262_143 }, "'maxTurn'", "0, or at least 'maxRead', which is 262144"],
    [{ readSize: 1 }, "'readSize'", 'known are minRead, maxRead'],
    [null, 'must be an object', 'null'],
  ]) {
    assert.throws(() => enlarge(socket, options), refusal('MILLRACE_E_INVALID_OPTION', words));
  }
  assert.equal(socket.listenerCount('connect'), listeners);
});

test('options up to their bounds are taken', async (t) => {
  for (const options of [
    undefined,
    { minRead: undefined },
    { minRead: 4096, maxRead: 4096, maxTurn: 4096, growAfter: 1, shrinkAfter: 1, raiseAfter: 1 },
    { minRead: 2 ** 24, growAfter: 1000, shrinkAfter: 1_000_000, raiseAfter: 1_000_000 },
    { maxRead: 2 ** 24, maxTurn: 2 ** 30, receiveBuffer: 2 ** 31 - 1, sendBuffer: 2 ** 31 - 1 },
    { maxRead: 65_536, maxTurn: 0, receiveBuffer: 0, sendBuffer: 0 },
    { minRead: 2 ** 20 },
    { maxRead: 8192 },
  ]) {
    const { socket } = await openPair(t);
    const enlarged = enlarge(socket, options);
    await turn();
    await found(enlarged);
    assert.equal(enlarged.active, on);
    if (on)
      assert.equal(
        enlarged.stats().readSize,
        options?.minRead ?? Math.min(options?.maxRead ?? 65_536, 65_536),
      );
  }
});

test('twice gives the same, with the options of the first time', async (t) => {
  const { socket } = await openPair(t);
  const enlarged = enlarge(socket, { minRead: 8192 });
  assert.equal(enlarge(socket, { minRead: 4096 }), enlarged);
  await found(enlarged);
  assert.equal(enlarge(socket), enlarged);
  assert.equal(enlarged.stats()?.readSize, on ? 8192 : undefined);
});

test('standard streams are refused, in a process whose streams are pipes', async () => {
  const script = `
    import { enlarge } from 'millrace/net';
    const codes = [process.stdin, process.stdout, process.stderr].map((stream) => {
      try { enlarge(stream); return 'taken'; } catch (error) { return error.code; }
    });
    process.stdout.write(codes.join(' '));`;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { cwd: new URL('.', import.meta.url) });
  child.stderr.pipe(process.stderr);
  const output = Buffer.concat(await all(child.stdout)).toString();
  assert.equal(output, Array(3).fill('MILLRACE_E_INVALID_ARGUMENT').join(' '));
});

test('local sockets are taken, and read as before', async (t) => {
  const path = join(tmpdir(), `millrace-enlarge-${process.pid}`);
  t.after(() => rmSync(path, { force: true }));
  for (const side of ['client', 'server']) {
    const { socket, peer } = await openPair(t, { side, path });
    const enlarged = enlarge(socket);
    send(peer, chunksOf(bytes)).then(() => peer.end());
    const reading = all(socket);
    await turn();
    await turn();
    assert.equal(enlarged.active, false);
    assert.equal(enlarged.stats(), null);
    assert.equal(digestOf(await reading), expected);
    enlarged.off();
  }
  const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const enlarged = enlarge(child.stdout);
  send(child.stdin, chunksOf(bytes)).then(() => child.stdin.end());
  assert.equal(digestOf(await all(child.stdout)), expected);
  assert.equal(enlarged.active, false);
});

test('a socket with `onread` gets its own buffer, filled as before', async (t) => {
  const server = createServer((peer) => send(peer, chunksOf(bytes)).then(() => peer.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const buffer = Buffer.alloc(100_000);
  const chunks = [];
  let largest = 0;
  const callback = (length, filled) => {
    assert.equal(filled, buffer);
    chunks.push(Buffer.from(filled.subarray(0, length)));
    largest = Math.max(largest, length);
    if (chunks.length % 5 !== 0) return true;
    setImmediate(() => socket.resume());
    return false;
  };
  const socket = connect({ ...server.address(), onread: { buffer, callback } });
  enlarge(socket);
  await once(socket, 'end');
  assert.equal(digestOf(chunks), expected);
  assert.ok(largest <= buffer.length);
});

test('a TLS socket is refused; one beneath TLS keeps its bytes', async (t) => {
  const server = createServer((raw) => {
    enlarge(raw);
    raw.on('error', () => {});
    const over = new TLSSocket(raw, { isServer: true, ...certificate() });
    over.on('error', () => {});
    assert.throws(() => enlarge(over), refusal('MILLRACE_E_INVALID_ARGUMENT', ['TLSSocket']));
    over.pipe(over);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect(server.address());
  const enlarged = enlarge(socket);
  await once(socket, 'connect');
  await found(enlarged);
  const over = connectTls({ socket, rejectUnauthorized: false });
  send(over, chunksOf(bytes)).then(() => over.end());
  const chunks = [];
  over.on('data', (chunk) => {
    chunks.push(chunk);
    if (chunks.length % 7 !== 0) return;
    over.pause();
    setImmediate(() => over.resume());
  });
  await once(over, 'end');
  assert.equal(digestOf(chunks), expected);
  const closed = once(socket, 'close');
  over.destroy();
  await closed;
  assert.equal(enlarged.active, false);
});

test('the connections of a TLS server can be enlarged beneath it', async (t) => {
  const server = createTls(certificate(), (over) => over.pipe(over));
  server.on('connection', (raw) => enlarge(raw));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const client = connectTls({ ...server.address(), rejectUnauthorized: false });
  send(client, chunksOf(bytes)).then(() => client.end());
  assert.equal(digestOf(await all(client)), expected);
});

test('the sockets of an http server and of its client: requests and answers are the same', async (t) => {
  const enlarged = [];
  const server = createHttp(async (incoming, response) => {
    response.end(digestOf(await all(incoming)));
  });
  server.on('connection', (socket) => enlarged.push(enlarge(socket)));
  server.on('upgrade', (incoming, socket, head) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n',
    );
    socket.unshift(head);
    socket.pipe(socket);
  });
  // However slow the machine is, the connection is used again.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const { port } = server.address();
  for (let n = 0; n < 3; n++) {
    const posting = request({ port, host: '127.0.0.1', agent, method: 'POST' });
    posting.on('socket', (socket) => enlarged.push(enlarge(socket)));
    send(posting, chunksOf(bytes)).then(() => posting.end());
    const [response] = await once(posting, 'response');
    assert.equal(Buffer.concat(await all(response)).toString(), expected);
  }
  const upgrading = get({
    port,
    host: '127.0.0.1',
    headers: { Connection: 'upgrade', Upgrade: 'echo' },
  });
  const [, socket, head] = await once(upgrading, 'upgrade');
  socket.unshift(head);
  enlarged.push(enlarge(socket));
  send(socket, chunksOf(bytes)).then(() => socket.end());
  assert.equal(digestOf(await all(socket)), expected);
  assert.equal(enlarged.length, 6);
});
