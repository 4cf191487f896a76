/** What leaves when: the first write of a turn at once, the others at its end. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { openPair, range, systemWrites, turn } from './pair.js';

for (const side of ['client', 'server']) {
  test(`the first write leaves at once, the rest together, from a ${side}`, async (t) => {
    const { socket, received } = await openPair(t, { side });
    const coalescer = coalesce(socket);
    const writes = systemWrites(socket);
    socket.write('0');
    assert.deepEqual(writes, [1]);
    assert.equal(socket.writableLength, 0);
    for (const n of range(9)) assert.equal(socket.write(`${n + 1}`), true);
    assert.deepEqual(writes, [1]);
    assert.equal(socket.writableLength, 9);
    await turn();
    assert.deepEqual(writes, [1, 9]);
    assert.equal(socket.writableLength, 0);
    await received.length(10);
    assert.equal(received.text(), '0123456789');
    assert.deepEqual(coalescer.stats(), { writes: 10, coalesced: 9, flushes: 1 });
  });
}

test('over a local socket too', async (t) => {
  const path = join(tmpdir(), `millrace-${process.pid}-turn.sock`);
  const { socket, received } = await openPair(t, { path });
  coalesce(socket);
  const writes = systemWrites(socket);
  for (const n of range(5)) socket.write(`${n}`);
  await turn();
  assert.deepEqual(writes, [1, 4]);
  await received.length(5);
  assert.equal(received.text(), '01234');
});

test('a lone write in each turn never waits', async (t) => {
  const { socket } = await openPair(t);
  const coalescer = coalesce(socket);
  const writes = systemWrites(socket);
  for (const n of range(5)) {
    socket.write('x');
    assert.equal(writes.length, n + 1);
    await turn();
  }
  assert.deepEqual(coalescer.stats(), { writes: 5, coalesced: 0, flushes: 0 });
});

test('ticks and promise jobs belong to the turn', async (t) => {
  const { socket } = await openPair(t);
  coalesce(socket);
  const writes = systemWrites(socket);
  await turn();
  socket.write('1');
  process.nextTick(() => socket.write('2'));
  for (const n of range(3)) {
    await null;
    socket.write(`${n + 3}`);
  }
  await turn();
  assert.deepEqual(writes, [1, 4]);
});

test('each socket has a first write of its own', async (t) => {
  const pairs = [await openPair(t), await openPair(t, { side: 'server' })];
  const writes = pairs.map(({ socket }) => systemWrites(socket));
  for (const { socket } of pairs) coalesce(socket);
  for (const n of range(4)) for (const { socket } of pairs) socket.write(`${n}`);
  assert.deepEqual(writes, [[1], [1]]);
  await turn();
  assert.deepEqual(writes, [
    [1, 3],
    [1, 3],
  ]);
});

test('strings of every encoding and bytes keep their order and content', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket);
  const chunks = [
    ['första', 'utf8'],
    ['h\u00e9', 'latin1'],
    ['ff00', 'hex'],
    [Buffer.from([0, 1, 2])],
    [new Uint8Array([3, 4])],
    ['', 'utf8'],
    ['界', 'utf16le'],
    ['AAEC', 'base64'],
  ];
  for (const chunk of chunks) socket.write(...chunk);
  const expected = Buffer.concat(chunks.map((chunk) => Buffer.from(...chunk)));
  await received.length(expected.length);
  assert.deepEqual(received.bytes(), expected);
});

test('flush writes what is held, and the turn goes on', async (t) => {
  const { socket } = await openPair(t);
  const coalescer = coalesce(socket);
  const writes = systemWrites(socket);
  coalescer.flush();
  for (const n of range(3)) socket.write(`${n}`);
  coalescer.flush();
  assert.deepEqual(writes, [1, 2]);
  socket.write('3');
  socket.write('4');
  assert.deepEqual(writes, [1, 2]);
  await turn();
  assert.deepEqual(writes, [1, 2, 2]);
});

test('callbacks come in order, those of held writes after they left', async (t) => {
  const { socket } = await openPair(t);
  coalesce(socket);
  const writes = systemWrites(socket);
  const called = [];
  await new Promise((resolve) => {
    for (const n of range(6)) {
      const done = (error) => {
        called.push([n, error ?? null, writes.length]);
        if (n === 5) resolve();
      };
      // With an encoding and without: the callback has two places.
      if (n % 2) socket.write(`${n}`, 'utf8', done);
      else socket.write(`${n}`, done);
    }
  });
  assert.deepEqual(
    called,
    range(6).map((n) => [n, null, n === 0 ? 1 : 2]),
  );
});

test('a buffer may be used again after the callback of its write', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket);
  const buffer = Buffer.alloc(1);
  for (const n of range(50)) {
    socket.write('.');
    buffer[0] = 65 + (n % 26);
    await new Promise((resolve) => socket.write(buffer, resolve));
  }
  await received.length(100);
  const letters = range(50).map((n) => `.${String.fromCharCode(65 + (n % 26))}`);
  assert.equal(received.text(), letters.join(''));
});
