/** What the C library has given out, as allocator.c tells it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { rssOf } from '../proc.js';
import { compileAllocator } from '../service.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;

test('it has what is held, and not what is free, which it gives back', {
  skip: !isGlibc && 'the C library is not glibc',
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-allocator-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const trim = createRequire(import.meta.url)(compileAllocator(folder));
  const before = trim();
  let buffers = Array.from({ length: 1000 }, () => Buffer.allocUnsafeSlow(20_000).fill(1));
  assert.ok(trim() - before >= 20_000_000, 'it does not see 20 MB in small blocks');
  const last = buffers.pop();
  buffers = null;
  // The second one ends the sweeping of the first.
  for (let round = 0; round < 2; round++) collect();
  const resident = rssOf(process.pid);
  assert.ok(trim() - before < 5_000_000, 'it counts what is free');
  assert.ok(
    resident - rssOf(process.pid) > 10_000_000,
    'it has not given back what is below another block',
  );
  assert.equal(last[0], 1);
});
