import { html } from '../escape.js';
import { isCommand, leadOf } from '../lead.js';

/** Description of the two arms: a table if it names several things, otherwise paragraphs. */
export function leadSection({ about }) {
  const { rows, paragraphs } = leadOf(about);
  return html`${rows.length > 0 && html`<table class="lead"><tbody>${rows.map(leadRow)}</tbody></table>\n`}${paragraphs.map((text) => html`<p class="about">${text}</p>\n`)}`;
}

const leadRow = ([name, value]) =>
  html`<tr><th scope="row">${name}</th><td>${isCommand(name) ? html`<code>${value}</code>` : value}</td></tr>\n`;
