/**
 * Search in the built pages: MiniSearch, with an index that VitePress makes when it builds.
 *
 * - Names of code stay whole and are also found by their parts: `maxDelay` by "max" and "delay", `uv_batch_push` by "push".
 * - Words without meaning of their own are left out, so that "what is millrace" asks for "millrace".
 * - A section whose title is the query comes first. Among such, the pages most readers want: Getting started and the first page, then
 *   references, then guides and explanations; the types in docs/api and records of the project come last.
 * - A row that defines a name is a section with the name as its title.
 *
 * The browser gets these functions as text: each uses only its arguments.
 */

export const tokenize = (text) => text.match(/[\p{L}\p{N}_$]+/gu) ?? [];

export function processTerm(word) {
  if (/^(a|an|and|do|does|for|how|i|in|is|it|of|or|the|to|what|with)$/i.test(word)) return null;
  const parts = word
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .split(/[_$]+/)
    .filter(Boolean);
  return [...new Set([word, ...parts].map((term) => term.toLowerCase()))];
}

export function boostDocument(id, term, { title, titles }) {
  const isFirstPage = (titles[0] ?? title) === 'Millrace';
  const [, weight] = [
    [/\/docs\/getting-started/, 4],
    [/\/docs\/reference\/(millrace|errors)\.html/, 2],
    [/\/docs\/(api\/|research\/|project\/|benchmarks\/auto-results|#|$)/, 0.4],
    [/\/docs\//, 1],
    [/./, isFirstPage ? 3 : 0.5],
  ].find(([pattern]) => pattern.test(id));
  const isExact = title.toLowerCase().replace(/\(\)$/, '') === term;
  // A row whose name is a plain word (`pool`) gives way to pages about it.
  const isWord = /#row-[a-z]+(-\d+)?$/.test(id);
  // An option in several tables is defined under "Options", and used under other headings.
  const isMain = titles.length === 0 || /^options/i.test(titles[titles.length - 1]);
  return weight * (isExact ? 3 : 1) * (isMain ? 1.5 : 1) * (isWord ? 0.3 : 1);
}

/** Options of the search of VitePress. */
export const search = {
  miniSearch: {
    options: { tokenize, processTerm },
    searchOptions: {
      boost: { title: 5, titles: 1, text: 1 },
      boostDocument,
      fuzzy: 0.15,
      prefix: true,
    },
  },
  _render: (markdown, env, md) => withRows(md.render(markdown, env)),
};

/** HTML of a page in which each row that defines a name has a section too, after the section of its table. */
export const withRows = (html) =>
  html
    .split(/(?=<h[1-6] )/)
    .map((section) => section + rowsOf(section).join(''))
    .join('');

function rowsOf(section) {
  const level = Number(/^<h(\d)/.exec(section)?.[1] ?? 1) + 1;
  return [...section.matchAll(/<tr>.*?<\/tr>/gs)].flatMap(([row]) =>
    [...row.matchAll(/ id="(row-[^"]+)"[^>]*>([\w.@$-]+)/g)].map(
      ([, id, name]) => `<h${level}>${name} <a href="#${id}"></a></h${level}>${row}`,
    ),
  );
}
