/** docs/README.md leads to every page, and the first page to docs/README.md and to pictures that are there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { files } from '../../scripts/lib/files.js';
import { read, root } from '../../scripts/lib/paths.js';

const index = read('docs/README.md');
const entries = [...index.matchAll(/^- \[[^\]]+\]\(([^)#]+)\)(.*)$/gm)];

test('docs/README.md has every page of docs, with what is found there', () => {
  const pages = files('docs')
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/api/'))
    .filter((path) => path !== 'docs/README.md');
  const listed = entries.map(([, path]) => join('docs', path));
  assert.ok(pages.length > 30);
  assert.deepEqual(
    [...pages, 'docs/api/README.md'].filter((path) => !listed.includes(path)),
    [],
  );
  for (const [line, , words] of entries) assert.match(words, /^: \S+ \S+/, line);
});

test('README.md is short, and leads there', () => {
  const page = read('README.md');
  const lines = page.trimEnd().split('\n');
  assert.ok(lines.length <= 130, `${lines.length} lines`);
  assert.match(page, /\]\(docs\/README\.md\)/);
});

test('the pictures of README.md are those that docs/images/make.js makes, whole and not too large', () => {
  const page = read('README.md');
  const shown = [...page.matchAll(/(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)].map(
    ([, inHtml, inMarkdown]) => inHtml ?? inMarkdown,
  );
  const made = files('docs/images').filter((path) => path.endsWith('.png'));
  const isDrawn = (path) => path.endsWith('.svg');
  assert.deepEqual(shown.filter((path) => !isDrawn(path)).toSorted(), made.toSorted());
  assert.deepEqual(shown.filter(isDrawn), ['docs/images/before-after.svg']);
  assert.equal(made.length, 4);
  for (const path of made) {
    const picture = readFileSync(join(root, path));
    assert.equal(picture.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n', path);
    assert.equal(picture.toString('latin1', picture.length - 8, picture.length - 4), 'IEND', path);
    const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
    assert.ok(width >= 800 && width <= 3000 && height >= 200, `${path} has ${width} × ${height}`);
    assert.ok(picture.length <= 250_000, `${path} has ${picture.length} bytes`);
  }
});
