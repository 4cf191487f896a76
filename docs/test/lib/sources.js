/** The rows of docs/research/sources.md, and the names in them. */
import { read } from '../../../scripts/lib/paths.js';

export const PAGE = 'docs/research/sources.md';

/**
 * A row of a table.
 *
 * @typedef {object} Row
 * @property {string} id the line of the page and what the row is about, for messages
 * @property {string} source the heading of its document
 * @property {string} there what the document has
 * @property {string} where in it
 * @property {string} here names, or why it was declined
 * @property {string} command `make test` where the page has none; '' of what was declined
 * @property {string} found what came of it
 * @property {string | null} declined why, or null
 * @property {string[]} claims that are named in it
 */

/**
 * @param {string} [markdown]
 * @returns {Row[]}
 * @throws {Error} if a row has another number of cells
 */
export function rowsOf(markdown = read(PAGE)) {
  const rows = [];
  let source = null;
  for (const [i, line] of markdown.split('\n').entries()) {
    if (line.startsWith('## ')) source = line.slice(3);
    if (!line.startsWith('| ') || /^\| there /.test(line)) continue;
    const cells = line.slice(1, -1).split('|');
    if (cells.length !== 5) throw new Error(`${PAGE}:${i + 1}: ${cells.length} cells, not 5`);
    const [there, where, here, told, found] = cells.map((cell) => cell.trim());
    const declined = /^declined: (.*)$/.exec(here)?.[1] ?? null;
    const command = told === '' && declined === null ? '`make test`' : told;
    const claims = italics(`${here} ${found}`);
    rows.push({
      id: `${PAGE}:${i + 1} ${there}`,
      ...{ source, there, where, here, command, found, declined, claims },
    });
  }
  return rows;
}

/** What is set as code. */
export const spans = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

/** The pages that it links to, relative to docs/; '' is this page. */
export const links = (text) => [...text.matchAll(/\]\(([^)#]*)[^)]*\)/g)].map(([, path]) => path);

/** Italics that are no part of code or of an address. */
const italics = (text) =>
  [...text.replace(/`[^`]*`/g, '').matchAll(/(?<!\*)\*([^*]+)\*(?!\*)/g)].map(([, claim]) => claim);

/** ``[`A`, `B` of `millrace/x`]`` as pairs of entry point and name. */
export function exportsNamed(here) {
  const groups = here.matchAll(/((?:`[^`]+`(?:, | and ))*`[^`]+`) of `(@?millrace(?:\/[\w-]+)*)`/g);
  return [...groups].flatMap(([, names, entry]) => spans(names).map((name) => [entry, name]));
}

/** Reports whether it is the path of a file or a folder here. */
export const isPath = (name) =>
  /^(\.\.?\/)*(bench|c|conformance|deploy|docs|examples|go|packages|scripts)\/\S*$/.test(name);

/** Reports whether it is a command, and not a case of the one before it. */
export const isCommand = (name) =>
  /^([A-Z_]+=\S+ )*(sudo )?(make|node|npm|npx|examples\/\S+\/run) ?/.test(name);
