/** What is gathered, as the counters tell it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { appendFile, readFile, stats, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

async function counted(act) {
  const before = stats();
  await act();
  const after = stats();
  return Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));
}

test('a burst of a thousand reads is one batch, and so is the next', async (t) => {
  const path = folder(t);
  for (let index = 0; index < 1000; index++) writeFileSync(`${path}/${index}`, `file ${index}`);
  for (let burst = 0; burst < 2; burst++) {
    const counts = await counted(async () => {
      const files = Array.from({ length: 1000 }, (_, index) => `${path}/${index}`);
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      for (const [index, text] of texts.entries()) assert.equal(text, `file ${index}`);
    });
    assert.deepEqual([counts.reads, counts.readBatches, counts.appends], [1000, 1, 0]);
    assert.ok(counts.onLoop <= 1000);
  }
});

test('reads of several ticks are several batches', async (t) => {
  const file = `${folder(t)}/file`;
  writeFileSync(file, 'x');
  const counts = await counted(async () => {
    for (let tick = 0; tick < 5; tick++) await Promise.all([readFile(file), readFile(file)]);
  });
  assert.deepEqual([counts.reads, counts.readBatches], [10, 5]);
});

test('calls passed on to Node.js do not count', async (t) => {
  const file = `${folder(t)}/file`;
  const counts = await counted(async () => {
    await writeFile(file, 'x');
    await appendFile(file, ['x']);
    await appendFile(file, 'x'.repeat(600_000));
    await appendFile(file, Buffer.alloc(600_000));
    await appendFile(file, 'x', { flag: 'a+' });
    await readFile(file, { flag: 'r+' });
    const handle = await open(file);
    await readFile(handle);
    await handle.close();
  });
  assert.deepEqual(new Set(Object.values(counts)), new Set([0]));
});

test('a snapshot does not change, and changes nothing', () => {
  const snapshot = stats();
  snapshot.reads = -1;
  assert.notEqual(stats().reads, -1);
});
