/** A file that another thread makes shorter and longer while it is read: what is read was in the file. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readFile } from 'millrace/fs';
import { seeds } from '../../../base/test/random.js';
import { folder } from './folder.js';

function change() {
  const { appendFileSync, truncateSync } = require('node:fs');
  const { workerData } = require('node:worker_threads');
  const { file, size } = workerData;
  for (let round = 0; ; round = (round + 7919) % size) {
    truncateSync(file, round);
    appendFileSync(file, 'a'.repeat(size - round));
  }
}

for (const size of [1000, 100_000, 1_500_000]) {
  test(`up to ${size} bytes`, async (t) => {
    const file = `${folder(t)}/file`;
    writeFileSync(file, 'a'.repeat(size));
    const worker = new Worker(`(${change})()`, { eval: true, workerData: { file, size } });
    await once(worker, 'online');
    for (const _ of seeds(40)) {
      const [bytes, text] = await Promise.all([readFile(file), readFile(file, 'latin1')]);
      for (const data of [bytes.toString('latin1'), text]) {
        // Nothing but what was there: no memory of somebody else. Zeros are what the system reads where it cuts at that moment.
        assert.match(data, /^[a\0]*$/);
        assert.ok(data.length <= size);
      }
    }
    await worker.terminate();
  });
}
