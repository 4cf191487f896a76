/** Relative links of Markdown files lead to a file that is there, and to a heading in it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { files } from '../lib/files.js';
import { read, root } from '../lib/paths.js';

test('links between pages resolve', () => {
  const all = files('.')
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) => links(read(page)).map((link) => [page, link]));
  assert.ok(all.length > 500, `${all.length} links`);
  assert.deepEqual(
    all.filter(([page, link]) => !resolves(page, link)),
    [],
  );
});

function links(markdown) {
  const inline = withoutCode(markdown).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g);
  const references = withoutCode(markdown).matchAll(/^\[[^\]]+\]:\s*(\S+)/gm);
  return [...inline, ...references]
    .map(([, link]) => link)
    .filter((link) => !/^([a-z][a-z+.-]*:|\/\/)/i.test(link));
}

function resolves(page, link) {
  const [path, heading] = decodeURI(link).split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(root, target))) return false;
  return !heading || !target.endsWith('.md') || anchors(read(target)).has(heading);
}

/** The anchors of a page's headings, as the usual Markdown hosts make them. */
function anchors(markdown) {
  const found = new Map();
  for (const [, text] of withoutFences(markdown).matchAll(/^#{1,6}\s+(.*?)\s*#*$/gm)) {
    const anchor = text
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = found.get(anchor) ?? 0;
    found.set(anchor, count + 1);
    if (count > 0) found.set(`${anchor}-${count}`, 1);
  }
  return new Set(found.keys());
}

const withoutFences = (markdown) => markdown.replace(/^( *)(```|~~~)[\s\S]*?^\1\2/gm, '');
const withoutCode = (markdown) => withoutFences(markdown).replace(/^ {4}.*|`[^`\n]*`/gm, '');
