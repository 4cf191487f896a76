/** Where the links of a page lead in the site, and what else the site needs for that: pictures, and files that are shown. */
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from '../../scripts/lib/paths.js';
import { hrefTo, placeOf } from './pages.js';

const EXTERNAL = /^([a-z][a-z+.-]*:|\/\/)/i;
const IMAGE = /\.(avif|gif|jpe?g|png|svg|webp)$/i;

/** What is shown as a page: longer files, and those that are no text, are named and not linked. */
const SHOWN =
  /(^|\/)[\w.-]+\.([cm]?[jt]s|c|h|go|json|txt|ya?ml|toml|sh|html|css|md)$|(^|\/)(LICENSE|Makefile)$/;
const SHOWN_BYTES = 256 * 1024;

export class Links {
  /** Files of the repository that are shown. */
  shown = new Set();
  /** Pictures, which are copied. */
  images = new Set();
  /** The pages that have each external link. */
  external = new Map();
  /** Links to what is not there, a line each. */
  broken = [];
  /** Links to a heading of a page: `{ from, link, page, heading }`. */
  headings = [];

  #pages;

  /** @param {{ has(path: string): boolean }} pages by path */
  constructor(pages) {
    this.#pages = pages;
  }

  /** The page that a link leads to: its file, or the README of a folder. */
  pageOf(from, link) {
    if (EXTERNAL.test(link)) return undefined;
    const target = pathOf(from, link);
    return [target, posix.join(target, 'README.md')].find((each) => this.#pages.has(each));
  }

  /**
   * @param {string} from the page that has the link
   * @param {string} link as it stands there
   * @returns {string | null} as it is in the site; null when nothing there can be shown
   */
  resolve(from, link) {
    if (EXTERNAL.test(link)) return this.#outside(from, link);
    const heading = decodeURI(link).split('#')[1];
    const anchor = heading ? `#${encodeURI(heading)}` : '';
    const page = this.pageOf(from, link);
    if (page !== undefined) {
      if (heading) this.headings.push({ from, link, page, heading });
      return page === from && heading ? anchor : hrefOf(from, page) + anchor;
    }
    const target = pathOf(from, link);
    if (IMAGE.test(target)) return this.image(from, link);
    const stat = this.#statOf(from, link, target);
    if (!stat?.isFile() || !SHOWN.test(target) || stat.size > SHOWN_BYTES) return null;
    this.shown.add(target);
    return hrefOf(from, target);
  }

  /**
   * @param {string} from the page that shows the picture
   * @param {string} link as it stands there
   * @returns {string} as it is in the site
   */
  image(from, link) {
    if (EXTERNAL.test(link)) {
      // A page that is read makes no request elsewhere.
      this.broken.push(`${from} shows ${link}, which is no file of the repository`);
      return '';
    }
    const target = pathOf(from, link);
    if (this.#statOf(from, link, target)) this.images.add(target);
    return hrefTo(placeOf(from), target);
  }

  #outside(from, link) {
    const pages = this.external.get(link) ?? new Set();
    this.external.set(link, pages.add(from));
    const url = URL.canParse(link) ? new URL(link) : null;
    const isSound = url && /^(https?|mailto):$/.test(url.protocol);
    if (!isSound) this.broken.push(`${from} links to ${link}, which is no address of the web`);
    return link;
  }

  #statOf(from, link, target) {
    const path = join(root, target);
    if (!target.startsWith('..') && existsSync(path)) return statSync(path);
    this.broken.push(`${from} links to ${link}, which is not there`);
    return null;
  }
}

/** The path that a link names. */
function pathOf(from, link) {
  const [path] = decodeURI(link).split('#');
  return path === '' ? from : posix.join(posix.dirname(from), path).replace(/\/$/, '');
}

const hrefOf = (from, path) => hrefTo(placeOf(from), placeOf(path));
