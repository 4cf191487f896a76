/** The order of the pages. That of the documents is the order of the lists in docs/README.md. */
import { posix } from 'node:path';

/** Headings with lists of links. */
const INDEX = 'docs/README.md';

/**
 * @typedef {object} Entry
 * @property {string} path of a page
 * @property {string} name as the menu has it
 * @property {Entry[]} children the pages of its folder that its lists link to, where it is a README
 *
 * @typedef {{ title: string, entries: Entry[] }} Section
 */

/**
 * @param {Map<string, import('./markdown.js').Page>} pages
 * @returns {Section[]} each page at most once; a document that the index does not lead to has no place
 */
export function navigationOf(pages) {
  const left = new Set(pages.keys());
  const take = ({ page }) => left.delete(page);
  const entry = ({ page, text }) => ({ path: page, name: text, children: childrenOf(page) });
  const childrenOf = (path) => {
    if (posix.basename(path) !== 'README.md') return [];
    const isInside = ({ page }) => page.startsWith(`${posix.dirname(path)}/`);
    return pages.get(path).listed.filter(isInside).filter(take).map(entry);
  };

  const start = [
    { page: 'README.md', text: 'Overview' },
    { page: INDEX, text: pages.get(INDEX).title },
  ];
  const sections = new Map([['Start', start.filter(take).map(leaf)]]);
  // What the index names has its place there, and not below another page.
  for (const link of pages.get(INDEX).listed.filter(take)) {
    const entries = sections.get(link.heading) ?? [];
    sections.set(link.heading, [...entries, entry(link)]);
  }
  const rest = [...left].filter((path) => !path.startsWith('docs/')).sort(byDepth);
  sections.set(
    'In the repository',
    rest.map((page) => leaf({ page, text: pages.get(page).title })),
  );
  return [...sections].map(([title, entries]) => ({ title, entries }));
}

const leaf = ({ page, text }) => ({ path: page, name: text, children: [] });

const byDepth = (a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1);

/** The paths of entries, as they are read. */
export const flat = (entries) => entries.flatMap(({ path, children }) => [path, ...flat(children)]);

/** The paths of all sections. */
export const orderOf = (sections) => sections.flatMap(({ entries }) => flat(entries));
