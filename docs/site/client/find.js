/** Looks words up in the index. */
import { termsOf, wordsOf } from '../terms.js';

const LIMIT = 20;
const EXACT = {
  boost: { title: 4, trail: 1.5 },
  boostDocument: (_id, _term, { href }) => weightOf(href),
  prefix: true,
  weights: { fuzzy: 0.2, prefix: 0.5 },
  processTerm: (term) => term.toLowerCase(),
};
const MISSPELT = { ...EXACT, fuzzy: (term) => (term.length > 3 ? 0.2 : false), maxFuzzy: 2 };

/** The guides first, then what is looked up, then the lists of all names and what is in other folders; last what was measured or changed. */
function weightOf(href) {
  if (/^docs\/(sources|results|auto-results)|^CHANGELOG/.test(href)) return 0.4;
  if (href.startsWith('docs/guides/')) return 1.3;
  return /^(index\.html|docs\/(?!api\/))/.test(href) ? 1 : 0.7;
}

/**
 * The sections that have all words. When none has, words that are nearly the same count, then parts of names, and last one of the words
 * is enough.
 *
 * @param {import('minisearch').default} index
 * @param {string} text
 * @returns {{ total: number, results: import('minisearch').SearchResult[] }}
 */
export function find(index, text) {
  const words = wordsOf(text);
  const tries = [
    [{ combineWith: 'AND', queries: words }, EXACT],
    [{ combineWith: 'AND', queries: words }, MISSPELT],
    [{ combineWith: 'AND', queries: words.flatMap(partsOf) }, MISSPELT],
    [{ combineWith: 'OR', queries: words.flatMap(partsOf) }, MISSPELT],
  ];
  for (const [query, options] of words.length > 0 ? tries : []) {
    const all = index.search(query, options);
    if (all.length > 0) return { total: all.length, results: all.slice(0, LIMIT) };
  }
  return { total: 0, results: [] };
}

/** A name that is put together, by its parts. */
function partsOf(word) {
  const [whole, ...parts] = termsOf(word);
  return parts.length > 0 ? parts : [whole];
}
