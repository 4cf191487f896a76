import { html } from '../escape.js';
import { noiseRows } from '../rows.js';
import { controlOf, treatmentsOf } from '../select.js';
import { alignedRows } from './table.js';

/** The control against itself, and what chance does to each figure, in one case. */
export function noiseSections(results, label) {
  const all = alignedRows(noiseRows(results, { case: label }), ['twin', 'twinP', 'pRaw', 'shift']);
  if (all.length === 0) return '';
  const hasArms = treatmentsOf(results).length > 1;
  const head = ({ title, unit, arm }, armNamed) =>
    html`<th scope="row">${title}<small>${[unit, armNamed && arm].filter(Boolean).join(', ')}</small></th>`;
  // The twin is the same for all treatments.
  const twins = all.filter(
    ({ title, hasTwin }, i) => hasTwin && all.findIndex((row) => row.title === title) === i,
  );
  return html`${
    twins.length > 0 &&
    html`<h4>The control against itself</h4>
<p class="note">In every round ${controlOf(results)} was measured once more, started with the same command. A figure that tells these two apart by more than the effect sought tells nothing of the treatment, and is refused; by less, and its interval is wider by as much.</p>
${plainTable(
  [
    'Metric',
    'Second ÷ first',
    'Interval',
    'p',
    'Smallest gain that shows',
    'Rounds for the effect sought',
  ],
  twins.map((row) => [
    ...[head(row, false), row.twin, row.twinInterval, row.twinP, row.smallest, row.roundsFor],
  ]),
)}`
  }<h4>Differences and spread</h4>
<p class="note">The difference is the Hodges-Lehmann estimate of treatment less control, in the unit of the metric. Of the rounds of each arm: the interquartile range, and the standard deviation as a share of the mean.</p>
${plainTable(
  ['Metric', 'Difference', 'Interval', 'p, uncorrected', 'Interquartile range', 'Variation'],
  all.map((row) => [
    ...[head(row, hasArms), row.shift, row.shiftInterval, row.pRaw, row.iqr, row.cv],
  ]),
)}`;
}

const plainTable = (heads, lines) => html`<table class="plain numbers">
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${lines.map(
  ([head, ...cells]) =>
    html`<tr>${head}${cells.map((cell, i) => html`<td data-label="${heads[i + 1]}">${cell}</td>`)}</tr>\n`,
)}</tbody>
</table>
`;
