import { html } from '../escape.js';
import { overviewRows } from '../overview.js';
import { badge } from './verdict.js';

/** Several experiments: what became of each claim, a row each. */
export const overviewSection = (entries) => html`<nav class="overview" aria-label="Experiments">
<table class="plain">
<thead><tr><th scope="col">Experiment</th><th scope="col" class="text">Asked or claimed</th><th scope="col">Claimed</th><th scope="col">Times better</th><th scope="col">Interval</th><th scope="col">Verdict</th></tr></thead>
<tbody>${entries.flatMap(({ results, id }) =>
  overviewRows(results).map(
    (
      row,
    ) => html`<tr><th scope="row"><a href="#${id}">${results.experiment}</a></th><td class="text" data-label="Asked or claimed">${row.text}</td><td data-label="Claimed">${row.claimed}</td><td data-label="Times better">${row.times}</td><td data-label="Interval">${row.interval}</td><td class="word" data-label="Verdict"><div>${row.words.map(verdictOf)}</div></td></tr>
`,
  ),
)}</tbody>
</table>
</nav>
`;

const verdictOf = ([word, many]) =>
  html`<span class="counted">${badge(word)}${many > 1 && html` <small>${many}</small>`}</span> `;
