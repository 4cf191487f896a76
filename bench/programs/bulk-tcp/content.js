/** The bytes of every transfer: the same block again and again, so that each byte's place in the stream is known. */
import { randomFrom } from '@millrace/lab/stats';

export const blockBytes = 1024 * 1024;

/** Twice the block: a chunk that begins anywhere in it, and is no longer than one, lies in it as a whole. */
export const content = twice();

function twice() {
  const random = randomFrom(7);
  const block = Buffer.from(
    Uint32Array.from({ length: blockBytes / 4 }, () => random() * 2 ** 32).buffer,
  );
  return Buffer.concat([block, block]);
}

const pageBytes = 4096;

/** Returns the error in a chunk that begins at this place of the stream; null: none. Checks a byte of each page. */
export function checkPages(chunk, place) {
  let at = (pageBytes - (place % pageBytes)) % pageBytes;
  for (; at < chunk.length; at += pageBytes) {
    if (chunk[at] !== content[(place + at) % blockBytes]) return `byte ${place + at} is wrong`;
  }
  return null;
}

/** Checks all bytes. */
export function checkAll(chunk, place) {
  for (let at = 0; at < chunk.length; at += blockBytes) {
    const part = chunk.subarray(at, at + blockBytes);
    const start = (place + at) % blockBytes;
    if (!part.equals(content.subarray(start, start + part.length))) {
      return `among the ${part.length} bytes from ${place + at} one is wrong`;
    }
  }
  return null;
}
