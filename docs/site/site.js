/** The whole site: every file of it, from the Markdown of the repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from '../../scripts/lib/paths.js';
import { clientScript } from './client.js';
import { Links } from './links.js';
import { pageOf } from './markdown.js';
import { navigationOf, orderOf } from './navigation.js';
import { placeOf, readPages } from './pages.js';
import { searchIndex } from './search-index.js';
import { shownFile } from './shown.js';
import { wholePage } from './template.js';

const NAME = 'Millrace';

/**
 * @typedef {object} Site
 * @property {Map<string, string | Buffer>} files what each file holds, by its path
 * @property {string[]} pages paths of the documents, in their order
 * @property {Map<string, string[]>} external the links to other sites, with the documents that have them
 * @property {string[]} faults links that lead nowhere, and documents that the index does not lead to, a line each
 */

/**
 * @param {Map<string, string>} [texts] of the documents, by path
 * @returns {Promise<Site>}
 */
export async function makeSite(texts = readPages()) {
  const links = new Links(texts);
  const pages = new Map([...texts].map(([path, text]) => [path, pageOf(path, text, links)]));
  const sections = navigationOf(pages);
  const order = orderOf(sections);
  const { version } = JSON.parse(read('packages/millrace/package.json'));
  const site = { name: NAME, version, sections, pages };
  const inOrder = order.map((path) => pages.get(path));
  const shown = [...links.shown].map(shownFile);
  return {
    files: new Map([
      ...[...inOrder, ...shown].map((page) => [placeOf(page.path), wholePage(site, page)]),
      ...[...links.images].map((path) => [path, readFileSync(join(root, path))]),
      ['style.css', read('docs/site/style.css')],
      ['icon.svg', read('packages/millrace/dashboard/icon.svg')],
      ['site.js', await clientScript()],
      ['search-index.js', searchIndex(inOrder)],
    ]),
    pages: order,
    external: new Map([...links.external].map(([link, from]) => [link, [...from]])),
    faults: [
      ...links.broken,
      ...headless(links, pages),
      ...[...pages.keys()]
        .filter((path) => !order.includes(path))
        .map((path) => `docs/README.md does not lead to ${path}`),
    ],
  };
}

/** The links to headings that no page has. */
const headless = (links, pages) =>
  links.headings
    .filter(({ page, heading }) => !pages.get(page).headings.some(({ id }) => id === heading))
    .map(({ from, link }) => `${from} links to ${link}, which is no heading there`);
