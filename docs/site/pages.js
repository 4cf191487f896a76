/** Which files become pages, and where in the site each is. */
import { posix } from 'node:path';
import { files } from '../../scripts/lib/files.js';
import { read } from '../../scripts/lib/paths.js';

/** What belongs to tests alone. */
const OTHERS = /(^|\/)test[\w-]*\//;

/**
 * The Markdown of the repository.
 *
 * @returns {Map<string, string>} the text of each page by its path, which is relative to the root
 */
export const readPages = () =>
  new Map(
    files('.')
      .filter((path) => path.endsWith('.md') && !OTHERS.test(path))
      .map((path) => [path, read(path)]),
  );

/**
 * The file of the site that shows a file of the repository. What is no Markdown is shown by a page of its own.
 *
 * @param {string} path relative to the root
 * @returns {string} relative to the site
 */
export function placeOf(path) {
  if (posix.basename(path) === 'README.md') return posix.join(posix.dirname(path), 'index.html');
  return path.endsWith('.md') ? path.replace(/md$/, 'html') : `${path}.html`;
}

/** The link from one file of the site to another. */
export const hrefTo = (from, to) => encodeURI(posix.relative(posix.dirname(from), to));
