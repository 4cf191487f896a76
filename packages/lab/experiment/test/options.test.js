import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { OPTIONS, USAGE } from '../options.js';

const ROW = /^\| `--([a-z-]+)` \| (.*?) ?\| (.*?) ?\| .+ \|$/gm;

test('the table of options in docs/reference/lab.md has them all, with what they take', () => {
  const page = readFileSync(new URL('../../../../docs/reference/lab.md', import.meta.url), 'utf8');
  const told = [...page.matchAll(ROW)].map(([, name, value]) => [name, value]);
  const known = Object.entries(OPTIONS).map(([name, { value = '', range }]) => [
    name,
    range === undefined ? value : range.join(' to '),
  ]);
  assert.deepEqual(told.sort(), [...known, ['help', '']].sort());
});

test('the usage fits a terminal', () => {
  for (const line of USAGE.split('\n')) assert.ok(line.length <= 80, line);
});
