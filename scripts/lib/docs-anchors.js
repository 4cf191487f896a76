/** Makes links between pages of the API lead where they are to, by the anchors that hosts of Markdown give to headings. */

import { posix } from 'node:path';

const ANCHOR = /<a id="([^"]*)"><\/a>\s*/g;

/**
 * Takes the anchors out of pages, and has the links to them name the headings: for an anchor in a table the heading above it.
 *
 * @param {Map<string, string>} pages by file name
 * @returns {Map<string, string>}
 */
export function settleAnchors(pages) {
  const names = new Map([...pages].map(([name, text]) => [name, anchorsOf(text)]));
  const settled = (name, text) =>
    text.replace(/\]\(([\w./-]*)#([^)]*)\)/g, (link, page, id) => {
      const target = page === '' ? name : posix.join(posix.dirname(name), page);
      const heading = names.get(target)?.get(id);
      return heading === undefined ? link : `](${page}#${heading})`;
    });
  return new Map([...pages].map(([name, text]) => [name, settled(name, text).replace(ANCHOR, '')]));
}

/** The name of the heading for each anchor of a page. An anchor of a heading stands before it, or at its start. */
function anchorsOf(text) {
  const found = new Map();
  const counts = new Map();
  let heading = '';
  const waiting = [];
  for (const line of text.split('\n')) {
    const ids = [...line.matchAll(ANCHOR)].map(([, id]) => id);
    const isHeading = /^#{1,6} /.test(line);
    if (isHeading) {
      const slug = slugOf(line.replace(ANCHOR, ''));
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      heading = count === 0 ? slug : `${slug}-${count}`;
    }
    const isAlone = ids.length > 0 && line.replace(ANCHOR, '') === '';
    if (isAlone) waiting.push(...ids);
    else for (const id of [...(isHeading ? waiting.splice(0) : []), ...ids]) found.set(id, heading);
  }
  return found;
}

/** The name that hosts of Markdown give to a heading, without the number of those that are there several times. */
export const slugOf = (line) =>
  line
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
