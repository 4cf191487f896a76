// How many files of Millrace a read goes through.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFile } from 'millrace/fs';
import { isIn, watchRoute } from '../../../base/test/route.js';

const most = 6;

test(`a warm readFile() goes through at most ${most} files of fs`, async (t) => {
  const path = new URL(import.meta.url);
  for (let n = 0; n < 40; n++) await readFile(path, 'utf8');

  const end = watchRoute();
  const text = await readFile(path, 'utf8');
  const all = end();
  const route = all.join(', ');
  const files = all.filter(isIn('millrace/fs'));
  t.diagnostic(route);
  assert.match(text, /goes through at most/);
  assert.ok(files.length > 0 && files.length <= most, route);
});
