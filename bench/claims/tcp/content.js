/** The bytes of every download: the same block again and again, so that each byte's place in the stream is known. */
const PAGE_BYTES = 4096;

export const BLOCK_BYTES = 1024 * 1024;
export const DOWNLOAD_BYTES = 5 * BLOCK_BYTES;

/** A generator of numbers that needs no seed from outside: both ends compute the same block. */
export const block = Buffer.from(
  Uint32Array.from({ length: BLOCK_BYTES / 4 }, (_, i) => Math.imul(i + 1, 2_654_435_761)).buffer,
);

/** Whether a byte of each page of a chunk that begins at this place is right: as a program that looks at what it gets. */
export function areRight(chunk, place) {
  let at = (PAGE_BYTES - (place % PAGE_BYTES)) % PAGE_BYTES;
  for (; at < chunk.length; at += PAGE_BYTES) {
    if (chunk[at] !== block[(place + at) % BLOCK_BYTES]) return false;
  }
  return true;
}
