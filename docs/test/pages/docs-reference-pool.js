import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import Pool from '@millrace/pool';
import { snippetsOf } from '../lib/snippets.js';

const bytes = new Uint8Array(10);

export async function setup() {
  const page = snippetsOf('docs/reference/pool.md');
  const tasks = ['example', 'files-in-pieces'].map(
    (name) => page.find((snippet) => snippet.name === name).code,
  );
  await writeFile('tasks.js', tasks.join('\n'));
  await writeFile('resize.js', 'export default (image) => image;\n');
  await writeFile('crypto.js', 'export const sha256 = (bytes) => bytes.length;\n');
  return { Pool, bytes, blur: (pixels) => pixels };
}

export const checks = {
  'arguments-and-results': (exported) => assert.equal(typeof exported.default, 'function'),
  filechunks: ({ counts, path }) => assert.ok(counts.length > 1 && path.endsWith('tasks.js')),
  linechunks: ({ lines }) => assert.equal(lines, 1_000_000),
  'the-module-itself': ({ one, all, queue }) => {
    assert.equal(one, 2880067194370816120n);
    assert.deepEqual(all, [1n, 1n, 2n]);
    assert.deepEqual(queue, []);
  },
};
