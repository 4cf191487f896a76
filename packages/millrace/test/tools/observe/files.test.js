/** Files that are read, whole and as streams, and appended to. */
import assert from 'node:assert/strict';
import fs, { createReadStream, promises } from 'node:fs';
import { appendFile, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { observe } from 'millrace/observe';

async function folderOf(t) {
  const folder = await mkdtemp(`${tmpdir()}/millrace-observe-`);
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const nothing = {
  ...{ reads: 0, callbackReads: 0, loneReads: 0, largeReads: 0, readTicks: 0 },
  ...{ mostReadsInTick: 0, handleReads: 0, appends: 0, commits: 0, stats: 0 },
  ...{ streams: 0, smallStreams: 0, streamTrips: 0 },
};

test('reads and appends, by tick and by file', async (t) => {
  const folder = await folderOf(t);
  const [a, b] = [`${folder}/a`, `${folder}/b`];
  const observation = observe();
  t.after(() => observation.stop());
  await Promise.all([appendFile(a, '1'), appendFile(a, '2'), promises.appendFile(b, '3')]);
  await appendFile(a, '4');
  const [text, bytes] = await Promise.all([
    readFile(b, 'utf8'),
    promises.readFile(pathToFileURL(a)),
  ]);
  assert.equal(text, '3');
  assert.equal(bytes.length, 3);
  await readFile(a);
  const handle = await open(a);
  await readFile(handle);
  await handle.close();
  await assert.rejects(readFile(`${folder}/none`), { code: 'ENOENT', syscall: 'open' });
  assert.deepEqual(observation.report().files, {
    ...nothing,
    ...{ reads: 4, readTicks: 3, loneReads: 2, mostReadsInTick: 2, handleReads: 1 },
    ...{ appends: 4, commits: 3 },
  });
});

test('reads with a callback count, and large ones are distinguished', async (t) => {
  const folder = await folderOf(t);
  const [small, large] = [`${folder}/small`, `${folder}/large`];
  await writeFile(small, 'small');
  await writeFile(large, Buffer.alloc(256 * 1024 + 1));
  const observation = observe();
  t.after(() => observation.stop());
  const read = promisify(fs.readFile);
  const [text, bytes] = await Promise.all([read(small, 'utf8'), read(large)]);
  assert.deepEqual([text, bytes.length], ['small', 256 * 1024 + 1]);
  await readFile(large);
  const handle = await open(small);
  assert.equal(await handle.readFile('utf8'), 'small');
  await handle.close();
  await assert.rejects(read(`${folder}/none`), { code: 'ENOENT' });
  assert.throws(() => fs.readFile(small), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.deepEqual(observation.report().files, {
    ...nothing,
    ...{ reads: 4, callbackReads: 3, loneReads: 2, largeReads: 2, readTicks: 3 },
    ...{ mostReadsInTick: 2, handleReads: 1 },
  });
});

test('a file that is served as a stream is counted with its trips to the threadpool', async (t) => {
  const folder = await folderOf(t);
  const [small, large] = [`${folder}/small`, `${folder}/large`];
  await writeFile(small, 'small');
  await writeFile(large, Buffer.alloc(300 * 1024, 'a'));
  const before = [fs.open, fs.read, fs.close, fs.stat];
  const observation = observe();
  t.after(() => observation.stop());
  const served = async (path) => {
    await promisify(fs.stat)(path);
    return (await createReadStream(path).toArray()).reduce((sum, { length }) => sum + length, 0);
  };
  assert.deepEqual([await served(small), await served(large)], [5, 300 * 1024]);
  await stat(small);
  // Files that are written to are no such streams.
  const fd = await promisify(fs.open)(small, 'r+');
  await promisify(fs.close)(fd);
  assert.deepEqual(observation.report().files, {
    ...nothing,
    // Opened, read, read until the end, closed.
    ...{ stats: 3, streams: 2, smallStreams: 1, streamTrips: 4 },
  });
  observation.stop();
  assert.deepEqual([fs.open, fs.read, fs.close, fs.stat], before);
});
