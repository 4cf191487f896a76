/** Rows of tables that define a name: an option, a function, an error code. Each has an address of its own, and search finds it. */

const DEFINES = /^(option|function|setting|variable)$/;

/**
 * Names that a row defines.
 *
 * @param {string[]} head cells of the first row of the table, as Markdown
 * @param {string[]} cells
 * @returns {string[]}
 */
export function namesOfRow([head], cells) {
  if (DEFINES.test(head.trim())) return namesOf(cells[0]);
  // Tables of errors: the meaning, what to do, then a column for each language.
  return head.trim() === 'it means' ? cells.slice(2).flatMap(namesOf) : [];
}

const namesOf = (cell) =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => nameOf(code) ?? []);

/** The name in a piece of code: `uv_batch_push` of `uv_batch_push(batch, event)`. */
export const nameOf = (code) => /^(?:new )?([\w@$-]+(?:\.[\w$-]+)*)/.exec(code)?.[1];

/** Id of the row. The second row of a page with the same name is number 1, as with headings. */
export const rowId = (name, number = 0) => `row-${name}${number === 0 ? '' : `-${number}`}`;
