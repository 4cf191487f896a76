import { html } from '../escape.js';
import { armFacts, facts } from '../facts.js';
import { limits } from '../text.js';

/** Remarks on this run. */
export const notesSection = ({ notes }) =>
  notes.length > 0 &&
  html`<section class="notes">
<h3>Notes</h3>
<ul>${notes.map((text) => html`<li>${text}</li>\n`)}</ul>
</section>
`;

/** Method of the measurement, and the limits of its figures. */
export const measuredSection = (results) => html`<details class="measured">
<summary>Method <span class="short">machine, versions, commands, limits of the figures</span></summary>
<h4>How it was measured</h4>
<p>In each round every arm was started anew, warmed up, measured and stopped, in random order. Figures are compared round by round.</p>
<dl class="facts">${facts(results).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<dl class="arms">${armFacts(results).map(
  ({ role, name, command }) =>
    html`<div><dt>${name} <small>${role}</small></dt><dd><code>${command}</code></dd></div>\n`,
)}</dl>
<div class="limits">
<h4>What the figures cannot say</h4>
<ul>${limits(results).map((text) => html`<li>${text}</li>\n`)}</ul>
</div>
</details>
`;
