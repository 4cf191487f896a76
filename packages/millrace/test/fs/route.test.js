// How many files of Millrace a read goes through.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFile } from 'millrace/fs';
import { watchRoute } from '../../../base/test/route.js';

const most = 10;

test(`a warm readFile() goes through at most ${most} files`, async (t) => {
  const path = new URL(import.meta.url);
  for (let n = 0; n < 40; n++) await readFile(path, 'utf8');

  const end = watchRoute();
  const text = await readFile(path, 'utf8');
  const files = end();
  const route = files.join(', ');
  t.diagnostic(route);
  assert.match(text, /goes through at most/);
  assert.ok(files.length > 0 && files.length <= most, route);
});
