import { barChart } from '../charts/bars.js';
import { bothWidths } from '../charts/plot.js';
import { html } from '../escape.js';
import { armIntervals } from '../intervals.js';
import { isNumber, range, times } from '../numbers.js';
import { figuresOf, keyMetrics, mainMetric, treatmentsOf } from '../select.js';
import { capital, rowWord } from '../text.js';
import { latencyFigure, roundsFigure } from './charts.js';
import { badge } from './verdict.js';

/** The figures that a reader asks for first, of one case: bars of throughput and CPU, latency, and the rounds side by side. */
export function keySections(results, label) {
  const bars = keyMetrics(results)
    .map((metric) => barFigure(results, metric, label))
    .filter((each) => each !== null);
  const latency = latencyFigure(results, label);
  const rounds = roundsFigure(results, label);
  const main = mainMetric(results);
  const section = (name, title, body) =>
    html`<section class="${name}">
<h3>${title}</h3>
${body}</section>
`;
  return html`${bars.length > 0 && html`<section class="bars">${bars}</section>\n`}${
    latency && section('latency', html`Latency by percentile <span class="unit">ms</span>`, latency)
  }${
    rounds &&
    section(
      'rounds',
      html`Round by round <span class="unit">${[main.title, main.unit].filter(Boolean).join(', ')}</span>`,
      rounds,
    )
  }`;
}

function barFigure(results, { name, title, unit }, label) {
  const arms = armIntervals(results, { case: label, metric: name });
  if (arms.length < 2) return null;
  const figures = figuresOf(results, { case: label, metric: name });
  const hasArms = treatmentsOf(results).length > 1;
  return html`<figure>
<figcaption><h3>${capital(title)} <span class="unit">${unit}</span></h3>${figures.map((figure) =>
    gain(results, figure, hasArms),
  )}</figcaption>
${bothWidths((width) => barChart(title, arms, width))}</figure>
`;
}

function gain(results, figure, hasArms) {
  const { arm, ahead, lo, hi } = figure;
  return html`<p class="ahead">${hasArms && html`${arm}: `}${
    isNumber(ahead) &&
    html`<strong>${times(ahead)}×</strong> <span class="unit">${range(lo, hi)}</span> `
  }${badge(rowWord(results, figure))}</p>`;
}
