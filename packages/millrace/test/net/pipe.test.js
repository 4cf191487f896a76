/** Streams that end in a coalesced socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { openPair, range } from './pair.js';

const parts = range(400).map((n) => Buffer.alloc(1 + ((n * 7919) % 9000), n));
const whole = Buffer.concat(parts);

test('pipe() brings everything, and ends the socket', async (t) => {
  const { socket, received } = await openPair(t);
  coalesce(socket);
  Readable.from(parts).pipe(socket);
  assert.equal(await received.ended, 'end');
  assert.deepEqual(received.bytes(), whole);
});

test('pipeline() too, to a peer that reads slowly', async (t) => {
  const { socket, peer, received } = await openPair(t);
  coalesce(socket);
  peer.on('data', () => {
    peer.pause();
    setImmediate(() => peer.resume());
  });
  await pipeline(Readable.from(parts), new PassThrough(), socket);
  assert.equal(await received.ended, 'end');
  assert.deepEqual(received.bytes(), whole);
});

test('a pipe does not go on while the socket is full', async (t) => {
  const { socket, peer, received } = await openPair(t);
  coalesce(socket);
  peer.pause();
  const big = range(200).map((n) => Buffer.alloc(256 * 1024, n));
  const source = Readable.from(big);
  source.pipe(socket);
  await once(source, 'pause');
  while (!socket.writableNeedDrain) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(source.readable);
  peer.resume();
  assert.equal(await received.ended, 'end');
  assert.deepEqual(received.bytes(), Buffer.concat(big));
});
