/** A working copy that was moved is built all the same. */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeMoved } from '../moved.js';

test('a build folder that CMake set up elsewhere is removed, one set up here is not', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-moved-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [here, copy, link] = ['here', 'copy', 'link'].map((name) => join(root, name));
  removeMoved(here);
  mkdirSync(here);
  removeMoved(here);
  writeFileSync(join(here, 'CMakeCache.txt'), `A:STRING=\nCMAKE_CACHEFILE_DIR:INTERNAL=${here}\n`);
  cpSync(here, copy, { recursive: true });
  symlinkSync(here, link);
  for (const folder of [here, copy, link]) removeMoved(folder);
  assert.deepEqual([here, copy, link].map(existsSync), [true, false, true]);
});
