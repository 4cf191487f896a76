/** What is measured. */
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

/** The least that `ahead` has to be for the files per second, by peer. */
export const targets = {
  ...Object.fromEntries(
    ['1KB', '4KB'].flatMap((size) =>
      [1, 10, 100, 1000].map((atOnce) => [
        `${size} C=${atOnce} warm`,
        { 'fs.promises': atOnce === 10 ? 3.3 : 3.94, callback: 1.6 },
      ]),
    ),
  ),
  ...Object.fromEntries(
    [1, 10, 100, 1000].map((atOnce) => [`64KB C=${atOnce} warm`, { 'fs.promises': 2 }]),
  ),
  '4KB C=100 cold': { 'fs.promises': 3 },
  '1MB C=100 cold': { 'fs.promises': 3 },
};

/** Without a target: only in a full run. */
export const others = [
  ...[1, 10, 100].map((atOnce) => `1MB C=${atOnce} warm`),
  '1KB C=100 cold',
  '64KB C=100 cold',
];

export const httpTarget = 1.7;

/** Many calls at a time, and the case that shows what they are worth within an application: no short table shows one without the other. */
export const beside = { '4KB C=100 warm': 'http 4KB' };
