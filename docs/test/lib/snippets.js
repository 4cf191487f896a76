/** The blocks of code in the documents: what each is called, and what it is written in. */
import MarkdownIt from 'markdown-it';
import { read } from '../../../scripts/lib/paths.js';
import { kindOf } from '../../lib/kind.js';

const markdownIt = new MarkdownIt({ html: true });

/**
 * A block of code.
 *
 * @typedef {object} Snippet
 * @property {string} id the page and the heading above the block, with a number from the second one there on:
 *   `docs/reference/pool.md#memory-2`
 * @property {string} page path of the document, relative to the root
 * @property {string} name the part of `id` after the #
 * @property {number} line of the document, from 1
 * @property {import('../../lib/kind.js').Kind} kind
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
  const tokens = markdownIt.parse(markdown, {});
  for (const [i, { type, content, info, map }] of tokens.entries()) {
    if (type === 'heading_open') heading = slug(text(tokens[i + 1]));
    if (type !== 'fence' && type !== 'code_block') continue;
    const count = (seen.get(heading) ?? 0) + 1;
    seen.set(heading, count);
    const name = count === 1 ? heading : `${heading}-${count}`;
    const code = content.replace(/\n$/, '');
    const kind = kindOf(code, { language: info.split(/\s/)[0], page });
    found.push({ id: `${page}#${name}`, page, name, line: map[0] + 1, kind, code });
  }
  return found;
}

const text = ({ children, content }) =>
  children?.length > 0 ? children.map(text).join('') : content;

const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');
