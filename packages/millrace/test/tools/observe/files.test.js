/** Files that are read and appended to in one tick. */
import assert from 'node:assert/strict';
import { promises } from 'node:fs';
import { appendFile, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { observe } from 'millrace/observe';

test('reads and appends, by tick and by file', async (t) => {
  const folder = await mkdtemp(`${tmpdir()}/millrace-observe-`);
  t.after(() => rm(folder, { recursive: true }));
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
    reads: 4,
    readTicks: 3,
    mostReadsInTick: 2,
    appends: 4,
    commits: 3,
  });
});
