/** Files: named imports, two in a tick, bytes, errors, off, somebody who replaces ours. Asserts by itself. */
import assert from 'node:assert/strict';
import fs, { readFileSync } from 'node:fs';
import promises, { appendFile, readFile } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(import.meta.url);
const { features } = process[Symbol.for('millrace.auto')];
const originals = require('../../../dist/fs/originals.cjs');
const [, , log] = process.argv;
const here = process.argv[1];

assert.equal(features.fs.why, null);
assert.equal(readFile, promises.readFile);
assert.equal(readFile, fs.promises.readFile);
for (const name of ['readFile', 'appendFile']) assert.notEqual(promises[name], originals[name]);
assert.equal(promises.writeFile, originals.writeFile);
assert.notEqual(fs.readFile, originals.readWithCallback);

// Two in a tick, by strings.
const two = await Promise.all([readFile(here), readFile(here, 'utf8')]);
assert.deepEqual(two, [readFileSync(here), readFileSync(here, 'utf8')]);
while (features.fs.state === 'waiting') await sleep(2);
assert.equal(features.fs.state, 'active');
const { stats } = await import('../../../dist/fs/index.js');
const before = stats();
const many = await Promise.all(Array.from({ length: 20 }, () => readFile(here)));
for (const each of many) assert.deepEqual(each, readFileSync(here));
await Promise.all(Array.from({ length: 20 }, (_, i) => appendFile(log, `${i}\n`)));
assert.equal(readFileSync(log, 'utf8'), Array.from({ length: 20 }, (_, i) => `${i}\n`).join(''));
const after = stats();
assert.equal(after.reads - before.reads, 20);
assert.equal(after.readBatches - before.readBatches, 1);
assert.equal(after.appends - before.appends, 20);
assert.ok(after.commits - before.commits < 20);
await assert.rejects(readFile('/no/such/file'), { code: 'ENOENT', path: '/no/such/file' });

// Off: exactly what was there, in named imports, too.
const descriptor = Object.getOwnPropertyDescriptor(promises, 'appendFile');
features.fs.off();
assert.equal(features.fs.state, 'off');
assert.equal(readFile, originals.readFile);
const { readWithCallback, ...originalPromises } = originals;
for (const [name, value] of Object.entries(originalPromises)) {
  const expected = { value, writable: true, enumerable: true, configurable: true };
  assert.deepEqual(Object.getOwnPropertyDescriptor(promises, name), expected);
}
assert.equal(fs.readFile, readWithCallback);
features.fs.on();
assert.deepEqual(Object.getOwnPropertyDescriptor(promises, 'appendFile'), descriptor);

// Somebody replaces ours: he stays, sees each call, and ours passes calls on while it is off.
const ours = promises.readFile;
let calls = 0;
promises.readFile = (...args) => {
  // The loader of ES modules may read with it, by URLs.
  if (typeof args[0] === 'string') calls++;
  return ours(...args);
};
syncBuiltinESMExports();
const theirs = promises.readFile;
const counted = async () => {
  const { reads } = stats();
  assert.deepEqual(await Promise.all([readFile(here), readFile(here)]), [
    readFileSync(here),
    readFileSync(here),
  ]);
  return stats().reads - reads;
};
assert.equal(await counted(), 2);
features.fs.off();
assert.equal(promises.readFile, theirs);
assert.equal(await counted(), 0);
features.fs.on();
assert.equal(promises.readFile, theirs);
assert.equal(features.fs.why, null);
assert.equal(await counted(), 2);
assert.equal(calls, 6);
