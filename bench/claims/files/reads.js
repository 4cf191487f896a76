import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads whole files that are in the page cache, one after the other in bursts. Each holds its number at both ends, and that
 * is checked of each that is read; the fingerprint is of all of their bytes.
 *
 * @param {typeof import('node:fs/promises')} files the arm's
 * @param {{ atOnce: number, bytes: number, count: number }} params `count` files
 * @param {string} folder
 */
export async function reads({ readFile }, { atOnce, bytes, count }, folder) {
  const paths = Array.from({ length: count }, (_, number) => join(folder, `${number}`));
  const content = Buffer.alloc(bytes, 'content');
  for (const [number, path] of paths.entries()) {
    content.writeUInt32LE(number, 0);
    content.writeUInt32LE(number, bytes - 4);
    writeFileSync(path, content);
  }
  let next = 0;
  let calls = 0;
  let wrong = 0;

  return {
    async burst() {
      const numbers = Array.from({ length: atOnce }, () => next++ % count);
      const all = await Promise.all(numbers.map((number) => readFile(paths[number])));
      calls += atOnce;
      for (const [i, got] of all.entries()) if (!isRight(got, numbers[i])) wrong += 1;
    },
    async payload() {
      const hash = createHash('sha256');
      for (const path of paths) hash.update(await readFile(path));
      calls += count;
      return hash.digest('hex');
    },
    faults: (counted) => [
      ...(wrong > 0 ? [`${wrong} of ${calls} files were not read rightly`] : []),
      ...(counted !== null && counted.reads < calls - count
        ? [`millrace counted ${counted.reads} reads of ${calls}`]
        : []),
    ],
  };

  function isRight(got, number) {
    return (
      got.length === bytes &&
      got.readUInt32LE(0) === number &&
      got.readUInt32LE(bytes - 4) === number
    );
  }
}
