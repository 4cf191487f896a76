import { html, markup } from '../escape.js';
import { aligned, NONE } from '../numbers.js';
import { rows } from '../rows.js';
import { controlOf, groupBy, treatmentsOf } from '../select.js';
import { badge } from './verdict.js';

/** Columns of numbers, of which the decimal points stand below each other. */
const NUMBERS = ['control', 'treatment', 'times', 'p', 'pRankSum', 'delta'];

/** A longer word may be broken within a head. */
const LONG_WORD = /\S{15}/;

/** The figures of one case: by metric, and below it by treatment where there are several. */
export const caseTable = (results, label) =>
  figureTable(results, rows(results, { case: label }), {
    first: 'Metric',
    keyOf: ({ title }) => title,
    headOf: metricHead,
  });

/** Table of a metric over all cases, and below each case by treatment where there are several. */
export const sweepTable = (results, metric) =>
  figureTable(results, rows(results, { metric }), {
    first: 'Case',
    keyOf: (row) => row.case,
    headOf: (row) => row.case,
  });

const metricHead = ({ title, unit, better }) => {
  const details = [unit, better].filter(Boolean).join(', ');
  return html`${title}${details !== '' && html` <small>${details}</small>`}`;
};

function figureTable(results, list, { first, keyOf, headOf }) {
  if (list.length === 0) return '';
  const arms = treatmentsOf(results);
  const hasArms = arms.length > 1;
  const isClaimed = list.some(({ claimed, paper }) => claimed !== NONE || paper !== '');
  const columns = [
    isClaimed && { head: 'Claimed', small: 'by the source', name: 'claimed', show: claimedCell },
    { head: controlOf(results), small: 'median', name: 'number', show: ({ control }) => control },
    {
      ...{ head: hasArms ? 'treatment' : (arms[0] ?? 'treatment'), small: 'median' },
      ...{ name: 'number', show: ({ treatment }) => treatment },
    },
    { head: 'Times better', small: 'and interval', name: 'times', show: timesCell },
    { head: 'p', small: 'signed-rank, Holm', name: 'number', show: ({ p }) => p },
    { head: 'p', small: 'rank-sum', name: 'number', show: ({ pRankSum }) => pRankSum },
    { head: 'Cliff’s δ', small: null, name: 'delta', show: deltaCell },
    { head: 'Verdict', small: null, name: 'word', show: wordCell },
  ].filter(Boolean);
  const groups = [...groupBy(alignedRows(list, NUMBERS), keyOf).values()];
  const line = (row, head) =>
    html`<tr><th scope="row">${head}</th>${columns.map((column) => cell(column, row))}</tr>\n`;
  return html`<table class="figures">
<thead><tr>${[{ head: hasArms ? 'Treatment' : first }, ...columns].map(headCell)}</tr></thead>
${
  hasArms
    ? groups.map(
        (group) => html`<tbody>
<tr class="group"><th colspan="${columns.length + 1}" scope="rowgroup">${headOf(group[0])}</th></tr>
${group.map((row) => line(row, row.arm))}</tbody>
`,
      )
    : html`<tbody>
${groups.flat().map((row) => line(row, headOf(row)))}</tbody>
`
}</table>
`;
}

const headCell = ({ head, small }) =>
  html`<th scope="col"${LONG_WORD.test(head) && markup(' class="long"')}>${head}${small && html`<small>${small}</small>`}</th>`;

const cell = ({ head, small, name, show }, row) =>
  html`<td class="${name}" data-label="${head === 'p' ? `p, ${small}` : head}"><div>${show(row)}</div></td>`;

const claimedCell = ({ claimed, paper }) => [
  claimed,
  paper !== '' && html`<small>${paper}</small>`,
];

const timesCell = ({ times, interval }) =>
  html`<strong>${times}</strong><small>${interval}</small>`;

const deltaCell = ({ delta, deltaWord }) => html`${delta}<small>${deltaWord}</small>`;

const wordCell = ({ word, refused }) => [
  badge(word),
  refused !== null && html`<small>${refused}</small>`,
];

/** Fills the texts of some columns up, which a page that has no columns hides. */
export function alignedRows(all, columns) {
  const filled = columns.map((column) => {
    const texts = all.map((row) => row[column]);
    return aligned(texts).map((text, i) => withFill(texts[i], text.slice(texts[i].length)));
  });
  return all.map((row, i) =>
    Object.assign({ ...row }, ...columns.map((column, at) => ({ [column]: filled[at][i] }))),
  );
}

const withFill = (text, fill) =>
  fill === '' ? text : html`${text}<span class="fill">${fill}</span>`;
