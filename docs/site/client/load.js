/** The index, which is loaded when it is first needed: by a script, as a page from a disk can fetch nothing. */
import MiniSearch from 'minisearch';
import { INDEX } from '../terms.js';

let index;

/**
 * @param {string} root of the site, relative to this page
 * @returns {Promise<MiniSearch>} fails when the script is not there
 */
export function load(root) {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${root}search-index.js`;
    script.onload = () => resolve(MiniSearch.loadJS(self.millraceIndex, INDEX));
    script.onerror = reject;
    document.head.append(script);
  });
  return index;
}
