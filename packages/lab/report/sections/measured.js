import { html } from '../escape.js';
import { armFacts, facts } from '../facts.js';
import { limits } from '../text.js';

/** How it was measured, and what the figures cannot say. */
export const measuredSection = (results) => html`<section class="measured">
<h3>How it was measured</h3>
<p>In each round every arm was started anew, warmed up, measured and stopped, in random order. Figures are compared round by round.</p>
<dl class="facts">${facts(results).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<dl class="arms">${armFacts(results).map(
  ({ role, name, command }) =>
    html`<div><dt>${name} <small>${role}</small></dt><dd><code>${command}</code></dd></div>\n`,
)}</dl>
</section>
<section class="limits">
<h3>What the figures cannot say</h3>
<ul>${[...results.notes, ...limits(results)].map((text) => html`<li>${text}</li>\n`)}</ul>
</section>
`;
