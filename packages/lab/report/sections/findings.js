import { html } from '../escape.js';
import { times } from '../numbers.js';
import { figuresOf, mainMetric } from '../select.js';
import { rowWord } from '../text.js';
import {
  caseCharts,
  gainSection,
  latencyFigure,
  otherSweeps,
  roundsFigure,
  sweepSection,
} from './charts.js';
import { keySections } from './key.js';
import { noiseSections } from './noise.js';
import { caseTable, sweepTable } from './table.js';
import { badge } from './verdict.js';

/**
 * The figures: of one case the key ones; of several the metric that decides over the cases. All others, with p values, effect sizes and
 * spread, are folded.
 */
export function findingsSection(results) {
  const { cases, figures } = results;
  if (figures.length === 0 && results.runs.length === 0) return '';
  if (cases.length < 2) {
    const label = cases[0] ?? '';
    return html`${keySections(results, label)}${details(
      'Statistics',
      'all metrics, p values, effect sizes, noise',
      html`${caseTable(results, label)}${gainSection(results)}${caseCharts(results, label)}${noiseSections(results, label)}`,
    )}`;
  }
  return html`${sweepSection(results)}${details(
    'Statistics',
    'all cases, p values, effect sizes',
    html`${sweepTable(results, mainMetric(results)?.name)}${otherSweeps(results)}`,
  )}<h3>Case by case</h3>
${cases.map((label) => caseDetails(results, label))}`;
}

/** A part that is folded. */
const details = (title, content, body) => html`<details>
<summary>${title} <span class="short">${content}</span></summary>
${body}</details>
`;

function caseDetails(results, label) {
  const latency = latencyFigure(results, label);
  const rounds = roundsFigure(results, label);
  return details(
    label,
    summary(results, label),
    html`${caseTable(results, label)}${
      latency && html`<h4>Latency by percentile <span class="unit">ms</span></h4>\n${latency}`
    }${rounds && html`<h4>Round by round</h4>\n${rounds}`}${caseCharts(results, label)}${noiseSections(results, label)}`,
  );
}

const summary = (results, label) =>
  figuresOf(results, { case: label, metric: mainMetric(results)?.name }).map(
    (figure) => html`${figure.arm} ${times(figure.ahead)}× ${badge(rowWord(results, figure))} `,
  );
