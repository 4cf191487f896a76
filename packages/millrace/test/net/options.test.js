/** Bad input, idempotence, and the way back. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls, createServer as createTls } from 'node:tls';
import { coalesce } from 'millrace/net';
import { certificate } from '../ws/certificate.js';
import { openPair, range, systemWrites, turn } from './pair.js';

const refusal = (code, words) => (error) => {
  assert.equal(error.name, 'MillraceError');
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), error.message);
  return true;
};

const methods = ['write', 'end', 'uncork', 'destroy', 'connect', 'server'];
const own = (socket) => methods.map((name) => Object.getOwnPropertyDescriptor(socket, name));

test('anything but a net.Socket is refused', () => {
  for (const [socket, word] of [
    [undefined, 'undefined'],
    [null, 'null'],
    ['127.0.0.1:80', '"127.0.0.1:80"'],
    [{ write() {} }, 'an object (Object)'],
    [new PassThrough(), 'an object (PassThrough)'],
  ]) {
    const words = [word, 'must be a net.Socket'];
    assert.throws(() => coalesce(socket), refusal('MILLRACE_E_INVALID_ARGUMENT', words));
  }
});

test('bad options are refused, and nothing has changed', async (t) => {
  const { socket } = await openPair(t);
  const before = own(socket);
  for (const [options, ...words] of [
    [{ maxPendingBytes: 0 }, "'maxPendingBytes'", '0', 'an integer from 1 to 2^53 - 1'],
    [{ maxPendingBytes: 1.5 }, '1.5'],
    [{ maxPendingBytes: '1 KiB' }, '"1 KiB"'],
    [{ maxPendingBytes: Number.POSITIVE_INFINITY }, 'Infinity'],
    [{ maxPendingBytes: null }, 'null'],
    [{ maxPending: 1 }, "'maxPending'", 'known are maxPendingBytes'],
    [null, 'must be an object', 'null'],
    [16, 'must be an object', '16'],
  ]) {
    assert.throws(() => coalesce(socket, options), refusal('MILLRACE_E_INVALID_OPTION', words));
  }
  assert.deepEqual(own(socket), before);
  coalesce(socket, { maxPendingBytes: undefined });
});

test('a TLS socket is refused', async (t) => {
  const server = createTls(certificate()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ ...server.address(), rejectUnauthorized: false });
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [accepted] = await once(server, 'secureConnection');
  for (const socket of [client, accepted]) {
    const before = own(socket);
    const refused = refusal('MILLRACE_E_INVALID_ARGUMENT', ['TLSSocket', 'leave it as it is']);
    assert.throws(() => coalesce(socket), refused);
    assert.deepEqual(own(socket), before);
  }
  accepted.destroy();
});

test('a TLS socket gathers by itself: what the refusal says', async (t) => {
  const server = createTls(certificate()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ ...server.address(), rejectUnauthorized: false });
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [[accepted]] = await Promise.all([
    once(server, 'secureConnection'),
    once(client, 'secureConnect'),
  ]);
  const writes = systemWrites(client);
  for (const n of range(10)) client.write(`${n}`);
  await turn();
  await turn();
  assert.deepEqual(writes, [1, 9]);
  accepted.destroy();
});

test('standard streams are refused, in a process whose streams are pipes', async () => {
  const script = `
    import { coalesce } from 'millrace/net';
    const codes = [process.stdin, process.stdout, process.stderr].map((stream) => {
      try { coalesce(stream); return 'taken'; } catch (error) { return error.code; }
    });
    process.stdout.write(codes.join(' '));`;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { cwd: new URL('.', import.meta.url) });
  child.stdout.setEncoding('utf8');
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.pipe(process.stderr);
  await once(child, 'close');
  assert.equal(output, Array(3).fill('MILLRACE_E_INVALID_ARGUMENT').join(' '));
});

test('the standard input of a child is a socket like others', async (t) => {
  const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  assert.ok(child.stdin instanceof Socket);
  coalesce(child.stdin);
  const writes = systemWrites(child.stdin);
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  for (const n of range(5)) child.stdin.write(`${n}`);
  await turn();
  assert.deepEqual(writes, [1, 4]);
  child.stdin.end();
  await once(child, 'close');
  assert.equal(output, '01234');
});

test('twice gives the same, with the options of the first time', async (t) => {
  const { socket } = await openPair(t);
  const coalescer = coalesce(socket, { maxPendingBytes: 2 });
  const patched = own(socket);
  assert.equal(coalesce(socket, { maxPendingBytes: 100 }), coalescer);
  assert.deepEqual(own(socket), patched);
  const writes = systemWrites(socket);
  for (const n of range(5)) socket.write(`${n}`);
  assert.deepEqual(writes, [1, 2, 2]);
});

for (const side of ['client', 'server']) {
  test(`off writes what is held and leaves the socket of a ${side} as it was`, async (t) => {
    const { socket, received } = await openPair(t, { side });
    const before = own(socket);
    const keys = Object.keys(socket);
    const coalescer = coalesce(socket);
    assert.deepEqual(Object.keys(socket), keys);
    const writes = systemWrites(socket);
    for (const n of range(3)) socket.write(`${n}`);
    coalescer.off();
    assert.deepEqual(writes, [1, 2]);
    coalescer.off();
    coalescer.flush();
    assert.deepEqual(own(socket), before);
    assert.equal(socket.writableCorked, 0);
    for (const n of range(3)) socket.write(`${n}`);
    assert.deepEqual(writes, [1, 2, 1, 1, 1]);
    await turn();
    await received.length(6);
    assert.equal(received.text(), '012012');
    assert.notEqual(coalesce(socket), coalescer);
  });
}

test('off leaves what somebody else has put on top, and passes calls on', async (t) => {
  const { socket, received } = await openPair(t);
  const coalescer = coalesce(socket);
  const { write } = socket;
  const seen = [];
  socket.write = (chunk, ...rest) => {
    seen.push(chunk);
    return write.call(socket, chunk, ...rest);
  };
  const { write: theirs } = socket;
  coalescer.off();
  assert.equal(socket.write, theirs);
  const writes = systemWrites(socket);
  for (const n of range(3)) socket.write(`${n}`);
  assert.deepEqual(writes, [1, 1, 1]);
  assert.deepEqual(seen, ['0', '1', '2']);
  coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  assert.deepEqual(writes, [1, 1, 1, 1]);
  await received.length(6);
  assert.equal(received.text(), '012012');
});

test('methods that the socket had of its own are used and come back', async (t) => {
  const { socket } = await openPair(t);
  const seen = [];
  socket.write = function (chunk, ...rest) {
    seen.push(chunk);
    return Socket.prototype.write.call(this, chunk, ...rest);
  };
  const before = own(socket);
  const coalescer = coalesce(socket);
  for (const n of range(3)) socket.write(`${n}`);
  assert.deepEqual(seen, ['0', '1', '2']);
  coalescer.off();
  assert.deepEqual(own(socket), before);
});
