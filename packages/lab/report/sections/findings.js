import { html } from '../escape.js';
import { times } from '../numbers.js';
import { figuresOf, mainMetric } from '../select.js';
import { capital, rowWord } from '../text.js';
import { caseCharts, gainSection } from './charts.js';
import { noiseSections } from './noise.js';
import { caseTable, sweepTable } from './table.js';
import { badge } from './verdict.js';

/**
 * The figures: of one case all at once; of several the main metric and the gain over the cases, then each case by
 * itself, of which only the last is unfolded.
 */
export function findingsSection(results) {
  const { cases, figures } = results;
  if (figures.length === 0 && results.runs.length === 0) return '';
  if (cases.length < 2) {
    const label = cases[0] ?? '';
    return html`<section>
${caseTable(results, label)}${gainSection(results)}</section>
<section>
<h3>The rounds</h3>
${caseCharts(results, label)}${noiseSections(results, label)}</section>
`;
  }
  const main = mainMetric(results);
  return html`<section>
<h3>${capital(main?.title ?? 'figures')}${main?.unit && html` <span class="unit">${main.unit}</span>`}</h3>
${sweepTable(results, main?.name)}${gainSection(results)}</section>
<section>
<h3>Case by case</h3>
${cases.map((label, i) => caseDetails(results, label, i === cases.length - 1))}</section>
`;
}

const caseDetails = (results, label, isOpen) => html`<details${isOpen && ' open'}>
<summary>${label} ${summary(results, label)}</summary>
${caseTable(results, label)}${caseCharts(results, label)}${noiseSections(results, label)}</details>
`;

const summary = (results, label) =>
  figuresOf(results, { case: label, metric: mainMetric(results)?.name }).map(
    (figure) =>
      html`<span class="short">${figure.arm} ${times(figure.ahead)}× ${badge(rowWord(results, figure))}</span>`,
  );
