/** What a test reads of the files of a site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
const OUTSIDE = /^(https?:|mailto:|\/\/)/;

/**
 * Links and pictures of a file that lead nowhere, or whose files would come from elsewhere. An address that begins with / counts from
 * the folder of the site.
 *
 * @param {string} folder
 * @param {Read} page
 * @param {Map<string, Read>} pages
 * @returns {string[]} a line each
 */
export function deadLinks(folder, { file, elements }, pages) {
  const base = new URL(file, 'site:///');
  return elements.flatMap(({ tag, attributes }) =>
    ADDRESSES.filter((name) => name in attributes)
      .map((name) => attributes[name])
      .filter((address) => !address.startsWith('data:'))
      .filter((address) => !leads(folder, new URL(address, base), pages, { tag, address }))
      .map((address) => `${file}: <${tag}> to ${address}`),
  );
}

function leads(folder, url, pages, { tag, address }) {
  // A reader may go elsewhere; a page takes nothing from there.
  if (OUTSIDE.test(address)) return tag === 'a';
  const target = decodeURIComponent(url.pathname.slice(1)).replace(/(^|\/)$/, '$1index.html');
  const heading = decodeURIComponent(url.hash.slice(1));
  if (!existsSync(join(folder, target))) return false;
  return heading === '' || pages.get(target)?.ids.has(heading) === true;
}
