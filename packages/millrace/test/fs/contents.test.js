/** Files of every size and kind. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFile } from 'millrace/fs';
import { folder } from './folder.js';
import { same } from './same.js';

const KiB = 1024;
const sizes = [0, 1, 4095, 4096, 4097, 32 * KiB, 64 * KiB - 1, 64 * KiB, 64 * KiB + 1, 256 * KiB];
sizes.push(256 * KiB + 1, 512 * KiB, 512 * KiB + 1, 1024 * KiB, 1024 * KiB + 1, 5_000_000);

for (const size of sizes) {
  const bytes = randomBytes(size);
  const arrange = (path) => writeFileSync(`${path}/file`, bytes);
  for (const encoding of [null, 'utf8', 'latin1', 'hex', 'base64', 'utf16le']) {
    // The text of random bytes is long: what counts is whether it is the same.
    same(
      `a file of ${size} bytes as ${encoding}`,
      (fs, path) => fs.readFile(`${path}/file`, encoding),
      {
        arrange,
      },
    );
  }
}

same(
  'several files at once, of all sizes, and one that is not there',
  async (fs, path) => {
    const all = await Promise.allSettled(
      [...sizes, 'none'].map((size) => fs.readFile(`${path}/${size}`)),
    );
    return all.map(({ value, reason }) => value ?? reason.message);
  },
  {
    arrange: (path) => {
      for (const size of sizes) writeFileSync(`${path}/${size}`, Buffer.alloc(size, `${size},`));
    },
  },
);

for (const file of [
  '/proc/version',
  '/proc/filesystems',
  '/sys/kernel/mm/transparent_hugepage/enabled',
]) {
  same(`${file}, whose size is said to be 0 or a page`, async (fs) =>
    (await fs.readFile(file, 'utf8')).replaceAll(/\d+/g, '#').replaceAll(/ +/g, ' '),
  );
}
same('/dev/null', (fs) => fs.readFile('/dev/null'));
same('/dev/null is written', (fs) => fs.appendFile('/dev/null', 'x'));
same('/dev/full', (fs) => fs.writeFile('/dev/full', 'x'));
same('/dev/full is appended to', (fs) => fs.appendFile('/dev/full', 'x'));
same('a link', (fs, path) => fs.readFile(`${path}/link`), {
  arrange: (path) => {
    writeFileSync(`${path}/file`, 'behind the link');
    symlinkSync('file', `${path}/link`);
  },
});

// Newer versions of Node.js would read them.
const hasLimit = Number(process.versions.node.split('.')[0]) <= 24;
for (const size of hasLimit ? [2 ** 31, 2 ** 33] : []) {
  const arrange = (path) => {
    const fd = openSync(`${path}/file`, 'w');
    ftruncateSync(fd, size);
    closeSync(fd);
  };
  same(
    `a sparse file of ${size} bytes is too large`,
    async (fs, path) => {
      try {
        await fs.readFile(`${path}/file`);
      } finally {
        // What is compared is the folder, too.
        writeFileSync(`${path}/file`, '');
      }
    },
    { arrange },
  );
}

test('everybody gets bytes of his own, in memory of their own', async (t) => {
  const path = folder(t);
  const files = ['a', 'b', 'a', 'a'].map((name) => `${path}/${name}`);
  for (const [index, file] of files.entries()) writeFileSync(file, `content ${index}`);
  const all = await Promise.all(files.map((file) => readFile(file)));
  assert.deepEqual(all.map(String), ['content 3', 'content 1', 'content 3', 'content 3']);
  for (const data of all) assert.deepEqual([data.byteOffset, data.buffer.byteLength], [0, 9]);
  all[0].fill('x');
  structuredClone(all[1].buffer, { transfer: [all[1].buffer] });
  assert.deepEqual(all.map(String), ['xxxxxxxxx', '', 'content 3', 'content 3']);
});
