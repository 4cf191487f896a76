/** What search finds: the sections of all pages. */
import MiniSearch from 'minisearch';
import { placeOf } from './pages.js';
import { INDEX } from './terms.js';

/**
 * @param {import('./markdown.js').Page[]} pages
 * @returns {string} a script, which a page can load from a disk where it can fetch nothing
 */
export function searchIndex(pages) {
  const index = new MiniSearch(INDEX);
  const sections = pages.flatMap((page) => page.sections.map((section) => entry(page, section)));
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return `self.millraceIndex = ${JSON.stringify(index)};\n`;
}

/** The trail is what is above the section: its page first. */
function entry({ path, title }, { id, trail, text }) {
  const above = trail.slice(0, -1);
  const isTop = trail.length <= 1;
  return {
    href: placeOf(path) + (isTop || id === '' ? '' : `#${id}`),
    title: trail.at(-1) ?? title,
    trail: above.join(' › '),
    text,
  };
}
