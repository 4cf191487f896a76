/** The table of other people's tests under auto is that of the suites which run. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { groups } from '../../packages/millrace/test-peers/auto/suites.js';
import { root } from '../../scripts/lib/paths.js';
import { tableRows } from './lib/tables.js';

test('the table in docs/reference/auto.md has a row for each group, with its suites', () => {
  const rows = tableRows('docs/reference/auto.md').filter(({ head }) => head[0] === 'group');
  assert.deepEqual(
    rows.map(({ cells: [group, list] }) => [group, list.split('; ')]),
    Object.entries(groups).map(([group, suites]) => [`\`${group}\``, suites.map(textOf)]),
  );
});

test('each group of suites has its test file', () => {
  for (const group of Object.keys(groups)) {
    const path = `packages/millrace/test-peers/auto/${group}.test.js`;
    assert.ok(existsSync(join(root, path)), path);
  }
});

function textOf({ name, version, tests, checkout }) {
  const count = tests.toLocaleString('en-US');
  return `${name} ${version}: ${count}${checkout ? ' *' : ''}`;
}
