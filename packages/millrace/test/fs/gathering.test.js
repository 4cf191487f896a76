/** How reads come together, and that what they return is the caller's alone. On both backends; counts are the addon's. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { native } from 'millrace';
import { readFile, stats } from 'millrace/fs';
import { folder } from './folder.js';

function makeFiles(path, count, bytes) {
  return Array.from({ length: count }, (_, number) => {
    const file = { path: `${path}/${number}`, content: randomBytes(bytes) };
    writeFileSync(file.path, file.content);
    return file;
  });
}

async function check(files) {
  const all = await Promise.all(files.map(({ path }) => readFile(path)));
  for (const [i, bytes] of all.entries()) assert.deepEqual(bytes, files[i].content);
  return all;
}

for (const [count, bytes] of [
  [3000, 10],
  [300, 64 * 1024],
  [9, 1024 * 1024],
  [3, 3 * 1024 * 1024],
]) {
  test(`${count} files of ${bytes} bytes at once`, async (t) => {
    const files = makeFiles(folder(t), count, bytes);
    await check(files);
    await check(files);
  });
}

test('a result that is kept holds no more memory than its own, and nobody writes to it', async (t) => {
  const files = makeFiles(folder(t), 20, 5000);
  const first = await check(files);
  await check(files);
  for (const [i, bytes] of first.entries()) {
    assert.equal(bytes.buffer.byteLength, 5000);
    assert.deepEqual(bytes, files[i].content);
  }
});

const withAddon = native === null ? () => {} : test;

withAddon('the loop reads a few files of a turn, other calls of the turn share jobs', async (t) => {
  const files = makeFiles(folder(t), 200, 100);
  const before = stats();
  const reading = [];
  // Each call is in a tick of its own, all in one turn.
  await new Promise((resolve) => {
    let next = 0;
    const one = () => {
      reading.push(readFile(files[next].path));
      if (++next < files.length) process.nextTick(one);
      else resolve();
    };
    setImmediate(one);
  });
  const all = await Promise.all(reading);
  for (const [i, bytes] of all.entries()) assert.deepEqual(bytes, files[i].content);
  const { reads, readBatches, jobs, onLoop } = stats();
  assert.equal(reads - before.reads, 200);
  assert.equal(readBatches - before.readBatches, 200);
  // 16 of one turn and 16 of the next, at most; what the page cache does not tell goes to the same jobs.
  assert.ok(onLoop - before.onLoop <= 48, `${onLoop - before.onLoop} on the loop`);
  assert.ok(jobs - before.jobs > 0 && jobs - before.jobs < 60, `${jobs - before.jobs} jobs`);
});

test('reads of a worker that is terminated while they are under way', async (t) => {
  const files = makeFiles(folder(t), 400, 20_000);
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ readFile }) => {
      const again = () => Promise.all(workerData.paths.map((path) => readFile(path))).then(again);
      again();
      again();
      setImmediate(() => parentPort.postMessage('reading'));
    });`;
  const paths = files.map(({ path }) => path);
  const module = import.meta.resolve('millrace/fs');
  for (let round = 0; round < 8; round++) {
    const worker = new Worker(source, { eval: true, workerData: { paths, module } });
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
  await check(files);
});
