/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { lineChunks, Pool } from '@millrace/pool';

const foreign = (code) => vm.runInNewContext(code);

test('a task that fails keeps the properties of its error', async (t) => {
  const pool = new Pool({ filename: new URL('foreign-error.js', import.meta.url), maxThreads: 1 });
  t.after(() => pool.destroy());
  await assert.rejects(pool.run(), { name: 'RangeError', message: 'too far', code: 'E_FAR' });
});

test('lineChunks() takes bytes, also as the delimiter', async () => {
  const source = [foreign('new Uint8Array([97, 59, 98])')];
  const delimiter = foreign('new Uint8Array([59])');
  const texts = [];
  for await (const { data } of lineChunks(source, { delimiter }))
    texts.push(String(Buffer.from(data)));
  assert.deepEqual(texts, ['a;b']);
});
