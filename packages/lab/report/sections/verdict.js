import { html } from '../escape.js';
import { claimTexts, headline, symbol } from '../text.js';

/** A word with its sign, coloured by what it says. */
export const badge = (word) =>
  html`<span class="badge" data-word="${word}"><span aria-hidden="true">${symbol(word)}</span> ${word}</span>`;

/** Question, findings, and verdicts on the claims. */
export function verdictSection(results) {
  const { word, title, more, advice } = headline(results);
  const claims = results.refusal ? [] : claimTexts(results);
  return html`<section class="verdict" data-word="${word}">
<p class="finding">${badge(word)} ${title}</p>
${more.map((text) => html`<p>${text}</p>\n`)}${advice && html`<p class="advice"><strong>What to do.</strong> ${advice}</p>\n`}${
  claims.length > 0 && html`<dl class="claims">${claims.map(claimEntry)}</dl>`
}
</section>
`;
}

const claimEntry = ({ text, source, word, outcome, remarks }) => html`
<dt>${badge(word)}</dt>
<dd><q>${text}</q> <cite>${source}</cite>
<p>${outcome}${remarks.map((remark) => ` ${remark}`)}</p></dd>`;
