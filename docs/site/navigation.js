/**
 * Navigation of the site. docs/README.md is its source: a heading is a group, a list item with a link is a page. Below the index of the
 * API come the pages that it lists. The last group has the READMEs of folders that no list names.
 */
import { read } from '../../scripts/lib/paths.js';
import { addressOf, pageAt, pages } from './pages.js';

const INDEX = 'docs/README.md';
const API = 'docs/api/README.md';
const ITEM = /^- \[([^\]]+)\]\(([^)#\s]+)\)/gm;

/**
 * @typedef {object} Item
 * @property {string} text
 * @property {string} page path of its Markdown
 * @property {string} link
 * @property {Item[]} [items]
 */

/** @returns {{ text: string, items: Item[] }[]} groups, in which each page stands once */
export function navigation() {
  const [, ...sections] = read(INDEX).split(/^## /m);
  const groups = [
    { text: 'Overview', items: [item('What Millrace is', 'README.md'), item('All pages', INDEX)] },
    ...sections.map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: itemsOf(INDEX, section),
    })),
  ];
  const listed = flat(groups).map(({ page }) => page);
  const others = pages.filter((page) => !listed.includes(page));
  const titled = others.map((page) => item(/^# (.*)$/m.exec(read(page))[1], page));
  return [...groups, { text: 'Folders', items: titled }];
}

/**
 * Pattern of the links that edit a page at its host.
 *
 * @param {string | { url: string }} [repository] as in package.json
 * @returns {string | undefined} undefined without a repository
 */
export function editPattern(repository) {
  const url = repository?.url ?? repository;
  return url && `${url.replace(/^git\+|\.git$/g, '')}/edit/main/:path`;
}

/** Items of groups, with those below them. */
export const flat = (items) =>
  items.flatMap((each) => [...(each.page ? [each] : []), ...flat(each.items ?? [])]);

function itemsOf(from, markdown) {
  return [...markdown.matchAll(ITEM)].map(([, text, link]) => {
    const page = pageAt(from, link);
    if (page === undefined) throw new Error(`${from} lists ${link}, which is not a page`);
    const below = page === API ? { items: itemsOf(API, read(API)), collapsed: true } : {};
    return { ...item(text, page), ...below };
  });
}

const item = (text, page) => ({ text: text.replaceAll('`', ''), page, link: addressOf(page) });
