import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { read, root } from './paths.js';

/**
 * The relative links of Markdown files that lead nowhere: a missing file, or a missing heading.
 *
 * @param {string[]} pages relative to the root
 * @returns {string[]} one line each
 */
export function brokenLinks(pages) {
  return pages.flatMap((page) =>
    links(read(page))
      .filter((link) => !resolves(page, link))
      .map((link) => `${page} links to ${link}, which is not there`),
  );
}

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
