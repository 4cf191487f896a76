/** A FileHandle in place of a path: from where it stands, as with node:fs/promises. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import * as millrace from 'millrace/fs';
import { folder } from './folder.js';
import { same } from './same.js';

const arrange = (path) => writeFileSync(`${path}/file`, '0123456789');

async function using(path, flags, act) {
  const handle = await open(`${path}/file`, flags);
  try {
    return await act(handle);
  } finally {
    await handle.close();
  }
}

const acts = {
  'reads all': (fs, handle) => fs.readFile(handle, 'utf8'),
  'reads the rest, then nothing': async (fs, handle) => {
    await handle.read(Buffer.alloc(4), 0, 4);
    return [await fs.readFile(handle, 'latin1'), await fs.readFile(handle)];
  },
  'writes where it stands': async (fs, handle) => {
    await handle.read(Buffer.alloc(4), 0, 4);
    await fs.writeFile(handle, 'ab');
    await fs.writeFile(handle, Buffer.from('cd'), { flush: true });
    return handle.stat().then(({ size }) => size);
  },
  'appends where it stands': async (fs, handle) => {
    await handle.read(Buffer.alloc(2), 0, 2);
    await fs.appendFile(handle, 'ab', 'utf8');
    await fs.appendFile(handle, ['c', 'd']);
    return fs.readFile(handle, { encoding: 'utf8' });
  },
  'ignores a flag': (fs, handle) => fs.readFile(handle, { flag: 'w', encoding: 'utf8' }),
  'is aborted': (fs, handle) => fs.readFile(handle, { signal: AbortSignal.abort('enough') }),
};

for (const [title, act] of Object.entries(acts)) {
  for (const flags of ['r+', 'r', 'a+', 'w+']) {
    same(
      `a handle opened with ${flags} ${title}`,
      (fs, path) => using(path, flags, (handle) => act(fs, handle)),
      { arrange },
    );
  }
}

for (const name of ['readFile', 'writeFile', 'appendFile']) {
  same(
    `${name} with a closed handle`,
    async (fs, path) => {
      const handle = await open(`${path}/file`);
      await handle.close();
      return fs[name](handle, name === 'readFile' ? 'utf8' : 'data');
    },
    { arrange },
  );
}

test('a durable append to a handle', async (t) => {
  const path = folder(t);
  arrange(path);
  await using(path, 'a', (handle) => millrace.appendFile(handle, 'end', { durable: true }));
  assert.equal(await millrace.readFile(`${path}/file`, 'utf8'), '0123456789end');
});
