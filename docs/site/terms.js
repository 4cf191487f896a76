/** What search takes for a word, in the pages and in what is typed; and what it keeps of a section. */

/** Names of code stay whole. */
const WORD = /[\p{L}\p{N}_$]+/gu;

/** @returns {string[]} */
export const wordsOf = (text) => text.match(WORD) ?? [];

/**
 * A word as it is looked for, and after it its parts, where it is put together: `uv_batch_push`, `maxDelay`.
 *
 * @param {string} word
 * @returns {string[]} without doubles
 */
export function termsOf(word) {
  const parts = word
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .split(/[_$]+/)
    .filter(Boolean);
  return [...new Set([word, ...parts].map((term) => term.toLowerCase()))];
}

/** Options of MiniSearch, the same where the index is made and where it is read. */
export const INDEX = {
  fields: ['title', 'trail', 'text'],
  storeFields: ['href', 'title', 'trail', 'text'],
  tokenize: wordsOf,
  processTerm: termsOf,
};
