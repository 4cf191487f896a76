/** A table of texts, as the pages of the fleet and of the soak have them. */
import { html } from './escape.js';

/**
 * The first cell of a row names it. Columns of words are aligned to the left; where there is little room, each cell has its head before it.
 *
 * @param {string[]} heads
 * @param {string[][]} rows as many cells as heads in each
 */
export function table(heads, rows) {
  const isText = heads.map((_, i) => rows.some((cells) => /[a-z]{3}/i.test(cells[i])));
  const aligned = (i) => (isText[i] ? 'text' : 'number');
  return html`<table class="labelled">
<thead><tr>${heads.map((text, i) => html`<th class="${aligned(i)}">${text}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) =>
      html`<tr><th data-label="${heads[0]}">${first}</th>${cells.map(
        (text, i) =>
          html`<td class="${aligned(i + 1)}" data-label="${heads[i + 1]}">${whole(text)}</td>`,
      )}</tr>\n`,
  )}</tbody>
</table>
`;
}

/** A number and its % are read as one. */
const whole = (text) => String(text).replaceAll(/(\d) %/g, '$1\u00a0%');
