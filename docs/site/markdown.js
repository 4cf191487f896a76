/**
 * Additions of the site to plain Markdown. The pages need no syntax for them and stay readable on any host of Markdown:
 *
 * - A relative link leads to the page of its file. A file that is not a page is copied into the site and shown as text.
 * - Code without a language gets its language.
 * - Fences that follow each other and have a title (```js [Node.js]) become tabs.
 * - A row that defines a name gets an id (rows.js), and code that names a public symbol leads to its definition (symbols.js).
 * - A picture for light and dark follows the switch of the site; a figure and its interval stay in one line.
 */
import { existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../scripts/lib/paths.js';
import { kindOf } from '../lib/kind.js';
import { addressOf, pageAt, pathAt } from './pages.js';
import { nameOf, namesOfRow, rowId } from './rows.js';
import { symbolsOf } from './symbols.js';

/** Files that pages link to and that are not pages. */
export const linkedFiles = new Set();

/** Place of such a file in the site. The ending has every server show it as text. */
export const textOf = (path) => (IMAGE.test(path) ? `source/${path}` : `source/${path}.txt`);

const EXTERNAL = /^([a-z][a-z+.-]*:|\/\/|#)/i;
const IMAGE = /\.(png|svg)$/;
const LANGUAGES = {
  javascript: 'js',
  typescript: 'ts',
  shell: 'sh',
  json: 'json',
  go: 'go',
  c: 'c',
};
const INTERVAL = /^[\d.,]+(?:–[\d.,]+×| \([\d.,]+ to [\d.,]+\))$/;
const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g;
/** Pages whose code leads to definitions: the definitions themselves, guides and reports do not. */
const REFERENCE =
  /^docs\/(?:getting-started|explanation\/[\w-]+|guides\/[\w-]+|reference\/(?!c-reference|errors)[\w-]+)\.md$/;

/** @param {import('markdown-it').default} md */
export function siteMarkdown(md) {
  md.core.ruler.push('millrace', ({ tokens, env, Token }) => {
    const page = pageOf(env);
    if (page === undefined) return;
    settleLinks(tokens, page);
    settleCode(tokens, page, Token);
    nameRows(tokens);
    if (REFERENCE.test(page)) linkSymbols(tokens, symbolsOf(page), Token);
    for (const token of tokens) {
      if (token.type === 'html_block') token.content = token.content.replace(PICTURE, pictures);
    }
  });
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => text(...args).replace(/(\d) %/g, '$1\u00a0%');
}

/** Path of the file that is rendered. VitePress renames a README first, and renders pieces of text without a path. */
function pageOf({ realPath, path }) {
  const file = realPath ?? path;
  return file && relative(root, file);
}

function settleLinks(tokens, page) {
  for (const { children } of tokens) {
    const open = [];
    for (const token of children ?? []) {
      if (token.type === 'link_close') token.hidden = open.pop().hidden;
      if (token.type !== 'link_open') continue;
      open.push(token);
      const link = token.attrGet('href');
      if (EXTERNAL.test(link)) continue;
      const href = addressIn(page, link);
      token.hidden = href === undefined;
      token.attrs = href === undefined ? [] : [['href', href]];
    }
  }
}

/** Address in the site; undefined for a folder that has no page. */
function addressIn(from, link) {
  const page = pageAt(from, link);
  if (page !== undefined) return addressOf(page) + (/#.*/.exec(link)?.[0] ?? '');
  const path = pathAt(from, link);
  if (path.startsWith('..') || !existsSync(join(root, path))) {
    throw new Error(`${from} links to ${link}, which is not there`);
  }
  if (!statSync(join(root, path)).isFile()) return undefined;
  linkedFiles.add(path);
  return `/${textOf(path)}`;
}

function settleCode(tokens, page, Token) {
  for (const token of tokens) {
    if (token.type === 'fence' && token.info !== '') continue;
    if (token.type !== 'fence' && token.type !== 'code_block') continue;
    Object.assign(token, { type: 'fence', tag: 'code', markup: '```' });
    token.info = LANGUAGES[kindOf(token.content.trimEnd(), { page })] ?? '';
  }
  for (let start = 0; start < tokens.length; start++) {
    let end = start;
    while (hasTitle(tokens[end])) end++;
    if (end - start < 2) continue;
    const edge = (name, nesting) => new Token(`container_code-group_${name}`, 'div', nesting);
    tokens.splice(end, 0, edge('close', -1));
    tokens.splice(start, 0, edge('open', 1));
    start = end + 1;
  }
}

const hasTitle = (token) => token?.type === 'fence' && /\[.+\]$/.test(token.info);

function nameRows(tokens) {
  const counts = new Map();
  let [head, cells] = [null, []];
  for (const [i, { type }] of tokens.entries()) {
    if (type === 'table_open') head = null;
    if (type === 'tr_open') cells = [];
    if (type === 'th_open' || type === 'td_open') cells.push(tokens[i + 1]);
    if (type === 'td_open' && INTERVAL.test(tokens[i + 1].content)) {
      tokens[i].attrJoin('class', 'interval');
    }
    if (type !== 'tr_close') continue;
    const texts = cells.map(({ content }) => content);
    if (head === null) {
      head = texts;
      continue;
    }
    const names = new Set(namesOfRow(head, texts));
    for (const token of cells.flatMap(({ children }) => children)) {
      const name = token.type === 'code_inline' ? nameOf(token.content) : undefined;
      if (!names.delete(name)) continue;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      token.attrSet('id', rowId(name, count));
    }
  }
}

function linkSymbols(tokens, addressOfCode, Token) {
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'inline' || tokens[i - 1].type === 'heading_open') continue;
    let depth = 0;
    token.children = token.children.flatMap((child) => {
      if (child.type === 'link_open') depth++;
      if (child.type === 'link_close') depth--;
      if (child.type !== 'code_inline' || depth > 0) return [child];
      const address = addressOfCode(child.content);
      if (address === undefined) return [child];
      const open = Object.assign(new Token('link_open', 'a', 1), { attrs: [['href', address]] });
      open.attrSet('class', 'symbol');
      return [open, child, new Token('link_close', 'a', -1)];
    });
  }
}

const pictures = (_, dark, alt, light) =>
  [light, dark]
    .map((path, i) => `<img class="only-${['light', 'dark'][i]}" alt="${alt}" src="./${path}">`)
    .join('\n');
