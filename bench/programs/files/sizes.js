/** Sizes of files, and what a case reads of them. */
const KB = 1024;
const sizes = { '1KB': KB, '4KB': 4 * KB, '64KB': 64 * KB, '1MB': 1024 * KB };

/** Files of each size: a working set that is larger than the caches of the CPU, except for the small ones. */
export const counts = { '1KB': 1000, '4KB': 1000, '64KB': 500, '1MB': 100 };

export const bytesOf = (size) => sizes[size];

/** `4KB C=100 cold`: what this many calls at a time read, and whether the page cache has it. */
export function parse(title) {
  const [, size, atOnce, state] = /^(\w+) C=(\d+) (warm|cold)$/.exec(title);
  return { size, bytes: sizes[size], count: counts[size], atOnce: Number(atOnce), state };
}
