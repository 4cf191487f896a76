/** No block of code is left out: each is tested here, or listed with what tests it or why nothing does. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/lib/paths.js';
import { ofKind, snippets } from './lib/all.js';
import { notRun, testedBy, unused } from './lib/listed.js';
import { snippetsOf } from './lib/snippets.js';

const TESTED = ['javascript', 'typescript', 'c', 'go', 'shell', 'json', 'files'];

test('each block of code has a test or a reason', () => {
  const without = snippets.filter(
    (snippet) => !TESTED.includes(snippet.kind) && !(snippet.id in notRun) && !testedBy(snippet),
  );
  const lines = without.map(({ id, page, line }) => `${id} (${page}:${line})`);
  assert.deepEqual(lines, [], 'neither code that a test here runs, nor in docs/test/lib/listed.js');
});

test('each block that is listed is there, and so is what tests it', () => {
  const ids = snippets.map(({ id }) => id);
  assert.deepEqual(
    Object.keys(notRun).filter((id) => !ids.includes(id)),
    [],
    'docs/test/lib/listed.js lists what is gone',
  );
  assert.deepEqual(unused(snippets), []);
  for (const snippet of snippets) {
    const by = testedBy(snippet);
    if (by !== undefined) assert.ok(existsSync(join(root, by)), by);
  }
});

test('each check of a page is for a snippet that runs', async () => {
  const names = ofKind('javascript', 'typescript').map(
    ({ page, name }) => `${page.replace(/\.md$/, '').replaceAll('/', '-')}.js ${name}`,
  );
  const folder = new URL('pages/', import.meta.url);
  const checked = [];
  for (const file of readdirSync(folder)) {
    const { checks = {} } = await import(new URL(file, folder).href);
    checked.push(...Object.keys(checks).map((name) => `${file} ${name}`));
  }
  assert.ok(checked.length > 20, 'the checks were not read');
  assert.deepEqual(
    checked.filter((check) => !names.includes(check)),
    [],
  );
});

test('a block of code is found however it is marked, and named by its heading', () => {
  const page =
    '# One\n\n    make test\n\n## Two: `b`\n\n```ts\nconst a: number = 1;\n```\n\n- a\n\n      const b = 2;\n';
  const found = snippetsOf('docs/some.md', page).map(({ id, kind }) => `${id} ${kind}`);
  assert.deepEqual(found, [
    'docs/some.md#one shell',
    'docs/some.md#two-b typescript',
    'docs/some.md#two-b-2 javascript',
  ]);
});
