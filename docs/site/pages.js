/** Pages of the site: the Markdown of the repository. Each keeps its path; a README is the index of its folder. */
import { posix } from 'node:path';
import { files } from '../../scripts/lib/files.js';

/** Folders of tests, whose Markdown is theirs. */
const TESTS = /(^|\/)test[\w-]*\//;

/** Paths of the pages, relative to the root of the repository. */
export const pages = files('.').filter((path) => path.endsWith('.md') && !TESTS.test(path));

/**
 * @param {string} page
 * @returns {string} path of its Markdown in the site, which differs for a README
 */
export const placeOf = (page) => page.replace(/(^|\/)README\.md$/, '$1index.md');

/**
 * @param {string} page
 * @returns {string} address of the page in the site, without a host: `/docs/guard`, `/docs/`
 */
export const addressOf = (page) => `/${placeOf(page)}`.replace(/(index)?\.md$/, '');

/**
 * Page that a relative link leads to: a Markdown file, or the README of a folder.
 *
 * @param {string} from page with the link
 * @param {string} link
 * @returns {string | undefined}
 */
export function pageAt(from, link) {
  const path = pathAt(from, link);
  return [path, posix.join(path, 'README.md')].find((each) => pages.includes(each));
}

/** Path of the repository that a relative link names. */
export function pathAt(from, link) {
  const [path] = decodeURI(link).split('#');
  return path === '' ? from : posix.join(posix.dirname(from), path).replace(/\/$/, '');
}
