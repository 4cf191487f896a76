/** Several threads append to one file and read it: nothing is lost, nothing is torn. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { appendFile, readFile, stats } from 'millrace/fs';
import { folder } from './folder.js';

const script = new URL('./worker.js', import.meta.url);

test('two workers and the main thread append to one file', async (t) => {
  const file = `${folder(t)}/file`;
  const workers = ['one', 'two'].map((name) => new Worker(script, { workerData: { file, name } }));
  const ended = workers.map((worker) => once(worker, 'exit'));
  for (let index = 0; index < 500; index++) {
    appendFile(file, `main ${index} ${'m'.repeat(index)}\n`);
    if (index % 10 === 0) await readFile(file);
  }
  assert.deepEqual(await Promise.all(ended), [[0], [0]]);
  // Behind all that this thread has appended.
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  for (const name of ['main', 'one', 'two']) {
    const own = lines.filter((line) => line.startsWith(`${name} `));
    const expected = Array.from(
      { length: 500 },
      (_, index) => `${name} ${index} ${name[0].repeat(index)}`,
    );
    assert.deepEqual(own, expected);
  }
  assert.equal(lines.length, 1500);
});

test('a worker that is terminated in the middle of it does no harm', async (t) => {
  const file = `${folder(t)}/file`;
  for (let round = 0; round < 5; round++) {
    const worker = new Worker(script, { workerData: { file, name: 'endless' } });
    await once(worker, 'message');
    await worker.terminate();
    await appendFile(file, 'main\n');
  }
  const mains = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('main'));
  assert.equal(mains.length, 5);
});

test('each thread has counters of its own', async (t) => {
  const file = `${folder(t)}/file`;
  const before = stats();
  const worker = new Worker(script, { workerData: { file, name: 'one' } });
  await once(worker, 'exit');
  assert.deepEqual(stats(), before);
});
