/** The tables of a page. */
import MarkdownIt from 'markdown-it';
import { read } from '../../../scripts/lib/paths.js';

/**
 * A row of a table, without its head.
 *
 * @typedef {object} Row
 * @property {string} id the page and the line, for messages
 * @property {string} heading what the table stands under
 * @property {string[]} head the names of its columns
 * @property {string[]} cells as written, without the spaces around them
 */

/** A bar that divides cells: one that no backslash escapes. */
const BAR = /(?<!\\)\|/;

/**
 * @param {string} page relative to the root
 * @param {string} [markdown]
 * @returns {Row[]}
 * @throws {Error} if a row has another number of cells than its head
 */
export function tableRows(page, markdown = read(page)) {
  const lines = markdown.split('\n');
  const isCode = codeLines(markdown);
  const rows = [];
  let [heading, head] = ['', null];
  for (const [i, line] of lines.entries()) {
    if (isCode.has(i + 1)) continue;
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    if (!line.startsWith('|')) head = null;
    else if (head === null) head = cellsOf(line);
    else if (!/^[|:\s-]+$/.test(line)) {
      const cells = cellsOf(line);
      if (cells.length !== head.length) {
        throw new Error(`${page}:${i + 1}: ${cells.length} cells, not ${head.length}`);
      }
      rows.push({ id: `${page}:${i + 1}`, heading, head, cells });
    }
  }
  return rows;
}

const cellsOf = (line) =>
  line
    .trim()
    .slice(1, -1)
    .split(BAR)
    .map((cell) => cell.trim());

function codeLines(markdown) {
  const blocks = new MarkdownIt({ html: true })
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence' || type === 'code_block');
  return new Set(
    blocks.flatMap(({ map: [start, end] }) =>
      Array.from({ length: end - start }, (_, i) => start + i + 1),
    ),
  );
}

/** What is set as code in a cell. */
export const spans = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
