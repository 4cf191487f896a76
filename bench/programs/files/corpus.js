/** The files that are read: each holds its number, at its beginning and at its end. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf, counts } from './sizes.js';

export const pathOf = (folder, size, number) => join(folder, `${size}-${number}`);

/** Makes them, in a folder of their own on the disk of temporary files. */
export function makeCorpus() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-files-'));
  for (const [size, count] of Object.entries(counts)) {
    const content = Buffer.alloc(bytesOf(size), size);
    for (let number = 0; number < count; number++) {
      content.writeUInt32LE(number, 0);
      content.writeUInt32LE(number, content.length - 4);
      writeFileSync(pathOf(folder, size, number), content);
    }
  }
  // Data not yet on the disk cannot be dropped from memory.
  spawnSync('sync');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Reports whether the bytes are those of the file. */
export function isRight(bytes, size, number) {
  return (
    bytes.length === bytesOf(size) &&
    bytes.readUInt32LE(0) === number &&
    bytes.readUInt32LE(bytes.length - 4) === number
  );
}

const drop = '/proc/sys/vm/drop_caches';
const byRoot = existsSync(drop) && process.getuid?.() === 0;

/** Ways to drop files from the page cache: as root, the whole cache; otherwise each file, by posix_fadvise, which dd calls. */
export const means = byRoot ? drop : 'dd oflag=nocache';

export function makeCold(folder, size) {
  if (byRoot) {
    writeFileSync(drop, '1');
    return;
  }
  const each = 'dd of="$f" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null';
  const { status } = spawnSync('sh', [
    '-c',
    `for f in "$0"/"$1"-*; do ${each}; done`,
    folder,
    size,
  ]);
  if (status !== 0) throw new Error(`${size}: the files could not be dropped from the page cache`);
}
