import { html } from './escape.js';
import { downloadSection } from './sections/download.js';
import { findingsSection } from './sections/findings.js';
import { leadSection } from './sections/lead.js';
import { measuredSection, notesSection } from './sections/measured.js';
import { overviewSection } from './sections/overview.js';
import { verdictSection } from './sections/verdict.js';
import { wholePage } from './whole-page.js';

/**
 * The page: one file that needs nothing else.
 *
 * @param {object[]} all results, one or more
 * @returns {string}
 */
export function page(all) {
  const entries = all.map((results, i) => ({ results, id: `experiment-${i + 1}` }));
  const title = all.length === 1 ? all[0].question : `${all.length} experiments`;
  return wholePage(
    title,
    html`${
      all.length > 1 &&
      html`<header><p class="kicker">Millrace lab</p><h1>${title}</h1></header>
${overviewSection(entries)}`
    }${entries.map(({ results, id }) => article(results, id, all.length === 1))}`,
  );
}

function article(results, id, isAlone) {
  const { experiment, question, date } = results;
  const day = String(date).slice(0, 10);
  return html`<article id="${id}">
<header>
<p class="kicker">${isAlone && 'Millrace lab, '}${experiment}, <time datetime="${date}">${day}</time></p>
${isAlone ? html`<h1>${question}</h1>` : html`<h2>${question}</h2>`}
</header>
${verdictSection(results)}${leadSection(results)}${findingsSection(results)}${notesSection(results)}${measuredSection(results)}${downloadSection(results)}</article>
`;
}
