/** What a test reads of the files of a site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'parse5';

/**
 * An HTML file.
 *
 * @typedef {object} Read
 * @property {string} file relative to the folder of the site
 * @property {string[]} errors of its form
 * @property {{ tag: string, attributes: Record<string, string>, text: string }[]} elements
 * @property {Set<string>} ids
 */

/**
 * @param {string} folder
 * @returns {Map<string, Read>} by file
 */
export function readSite(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.html'));
  return new Map(files.map((file) => [file, readHtml(folder, file)]));
}

function readHtml(folder, file) {
  const errors = [];
  const onParseError = ({ code, startLine }) => errors.push(`${file}:${startLine}: ${code}`);
  const elements = [];
  const visit = ({ tagName, attrs = [], childNodes = [] }) => {
    const text = childNodes.map(({ value = '' }) => value).join('');
    const attributes = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    if (tagName) elements.push({ tag: tagName, attributes, text });
    childNodes.forEach(visit);
  };
  visit(parse(readFileSync(join(folder, file), 'utf8'), { onParseError }));
  const ids = elements.flatMap(({ attributes: { id } }) => id ?? []);
  if (new Set(ids).size < ids.length) errors.push(`${file}: two elements have the same id`);
  return { file, errors, elements, ids: new Set(ids) };
}

const ADDRESSES = ['href', 'src', 'srcset'];
const OUTSIDE = /^(https?|mailto|data):/;

/**
 * The links and pictures of a file that lead nowhere, or whose files would come from elsewhere.
 *
 * @param {string} folder
 * @param {Read} page
 * @param {Map<string, Read>} pages
 * @returns {string[]} a line each
 */
export function deadLinks(folder, { file, elements }, pages) {
  const base = pathToFileURL(join(folder, file));
  return elements.flatMap(({ tag, attributes }) =>
    ADDRESSES.filter((name) => name in attributes)
      .map((name) => attributes[name])
      .filter((address) => !leads(folder, new URL(address, base), pages, { tag, address }))
      .map((address) => `${file}: <${tag}> to ${address}`),
  );
}

function leads(folder, url, pages, { tag, address }) {
  // A reader may go elsewhere; a page takes nothing from there.
  if (OUTSIDE.test(address)) return tag === 'a';
  if (address.startsWith('/')) return false;
  const heading = decodeURIComponent(url.hash.slice(1));
  url.hash = '';
  const path = fileURLToPath(url);
  const target = relative(folder, path);
  if (target.startsWith('..') || !existsSync(path) || path === dirname(path)) return false;
  return heading === '' ? /\.\w+$/.test(target) : pages.get(target)?.ids.has(heading) === true;
}
