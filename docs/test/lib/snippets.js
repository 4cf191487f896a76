/** The blocks of code in the documents: what each is called, and what it is written in. */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { read } from '../../../scripts/lib/paths.js';
import { kindOf } from './kind.js';

/**
 * A block of code.
 *
 * @typedef {object} Snippet
 * @property {string} id the page and the heading above the block, with a number from the second one there on:
 *   `docs/pool.md#memory-2`
 * @property {string} page path of the document, relative to the root
 * @property {string} name the part of `id` after the #
 * @property {number} line of the document, from 1
 * @property {import('./kind.js').Kind} kind
 * @property {string} code
 */

/**
 * The blocks of code in a document, in order.
 *
 * @param {string} page relative to the root
 * @param {string} [markdown] its text
 * @returns {Snippet[]}
 */
export function snippetsOf(page, markdown = read(page)) {
  const found = [];
  const seen = new Map();
  let heading = 'top';
  const visit = (node) => {
    if (node.type === 'heading') heading = slug(text(node));
    if (node.type === 'code') {
      const count = (seen.get(heading) ?? 0) + 1;
      seen.set(heading, count);
      const name = count === 1 ? heading : `${heading}-${count}`;
      const kind = kindOf(node.value, { language: node.lang, page });
      const line = node.position.start.line;
      found.push({ id: `${page}#${name}`, page, name, line, kind, code: node.value });
    }
    node.children?.forEach(visit);
  };
  visit(fromMarkdown(markdown));
  return found;
}

const text = (node) => node.value ?? (node.children ?? []).map(text).join('');

const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');
