/** Bytes in bulk, whether they arrived, and how a socket reads: what every test of enlarged sockets needs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { native } from 'millrace';
import { randomNumbers } from '../../../base/test/random.js';
import { turn } from './pair.js';

/** Whether there is an addon: without one nothing is enlarged, and everything else is the same. */
export const on = native !== null && process.platform !== 'win32';

/** A test of how sockets are read with the addon. */
export const nativeTest = on ? test : () => {};

const anything = randomNumbers(1);
const source = Buffer.from(Array.from({ length: 1 << 20 }, () => anything(256)));

/** So many bytes in chunks of random sizes. */
export function* chunksOf(bytes, seed = 1) {
  const random = randomNumbers(seed);
  for (let left = bytes; left > 0; ) {
    const length = Math.min(left, 1 + random([64, 64 * 1024, 512 * 1024][random(3)]));
    const start = random(source.length - length);
    left -= length;
    yield source.subarray(start, start + length);
  }
}

/** The digest of a sequence of chunks. */
export function digestOf(chunks) {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** Resolves when the stream takes more, or has ended. */
export function drained(stream) {
  return new Promise((resolve) => {
    const ready = () => {
      stream.off('drain', ready).off('close', ready);
      resolve();
    };
    stream.on('drain', ready).on('close', ready);
  });
}

/** Writes all of it, as fast as the peer takes it, and stops where the stream ends. */
export async function send(socket, chunks) {
  for (const chunk of chunks) {
    if (socket.destroyed) return;
    if (!socket.write(chunk)) await drained(socket);
  }
}

/** Resolves at the end of the turn in which the socket was found; at once where nothing is. */
export async function found(enlarged) {
  while (on && !enlarged.active) await turn();
}

/** Sends until the socket, which somebody reads, asks for so much at a time. */
export async function growTo(readSize, { peer, enlarged }) {
  const chunk = Buffer.alloc(1 << 20, 'g');
  for (let mebibytes = 0; enlarged.stats().readSize < readSize; mebibytes++) {
    assert.ok(mebibytes < 4096, 'reads do not grow');
    if (!peer.write(chunk)) await drained(peer);
  }
}

/** Sends a byte so many times, each when the one before has arrived: reads that are nearly empty. */
export async function trickle(times, { peer, socket }) {
  for (let n = 0; n < times; n++) {
    const before = socket.bytesRead + peer.writableLength;
    peer.write('.');
    while (socket.bytesRead <= before) await once(socket, 'data');
  }
}

/** Resolves when all that the peer wrote has been read. */
export async function settled({ peer, socket }) {
  while (socket.bytesRead < peer.bytesWritten) await turn();
}
