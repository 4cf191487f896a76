import { density, FEWEST } from '../charts/density.js';
import { gainChart } from '../charts/gain.js';
import { legend } from '../charts/legend.js';
import { percentileChart, percentilePoints } from '../charts/percentiles.js';
import { bothWidths, captioned, NARROW } from '../charts/plot.js';
import { roundsChart } from '../charts/rounds.js';
import { seriesChart } from '../charts/series.js';
import { html } from '../escape.js';
import { isNumber, quantity } from '../numbers.js';
import {
  claimsOf,
  figuresOf,
  groupBy,
  mainMetric,
  runsOf,
  shownArms,
  typicalRun,
} from '../select.js';
import { capital } from '../text.js';
import { seriesOf } from '../timeseries.js';

/** Ratios of all metrics of the only case. */
export function gainSection(results) {
  const { figures, rowsBy, arms } = gains(results);
  if (figures.length === 0) return '';
  return html`<div class="gain">
<h4>How many times better</h4>
${gainNote(results)}
${arms.length > 1 && legend(arms)}<figure>${bothWidths((width) =>
    gainChart('How many times better, by metric', rowsBy('title', figures), width, false),
  )}</figure>
</div>
`;
}

/** Ratios over the cases, of the metric that decides. */
export function sweepSection(results) {
  const { figures, rowsBy, arms } = gains(results);
  const main = figures.filter(({ metric }) => metric === mainMetric(results)?.name);
  if (main.length === 0) return '';
  return html`<section class="gain">
<h3>${capital(main[0].title)}: how many times better</h3>
${gainNote(results)}
${arms.length > 1 && legend(arms)}<figure>${bothWidths((width) => sweepChart(main, rowsBy, width))}</figure>
</section>
`;
}

/** Charts of all other metrics over the cases. */
export function otherSweeps(results) {
  const { figures, rowsBy } = gains(results);
  const main = mainMetric(results)?.name;
  const others = [...groupBy(figures, ({ metric }) => metric)].filter(([name]) => name !== main);
  if (others.length === 0) return '';
  return html`<h4>How many times better, by case</h4>
<div class="multiples">${others.map(([, list]) =>
    captioned(capital(list[0].title), '', sweepChart(list, rowsBy, NARROW)),
  )}</div>
`;
}

const sweepChart = (list, rowsBy, width) =>
  gainChart(`How many times better by case: ${list[0].title}`, rowsBy('case', list), width, true);

const gainNote = ({ claims }) =>
  html`<p class="note">A mark is the figure, the bar through it its interval; right of the line at 1× is better.${
    claims.length > 0 && ' The upright stroke is the claim.'
  }</p>`;

/** Figures that have a ratio, with a function that makes rows of them. */
function gains(results) {
  const figures = results.figures.filter(({ better, ahead }) => better && isNumber(ahead));
  const arms = shownArms(results).filter(({ role }) => role === 'treatment');
  const rowsBy = (key, list) =>
    [...groupBy(list, (figure) => figure[key])].map(([label, group]) => ({
      label,
      arms: group.map((figure) => gainPoint(results, figure, arms)),
    }));
  return { figures, rowsBy, arms };
}

function gainPoint(results, figure, arms) {
  const { ahead, lo, hi } = figure;
  const claimed = claimsOf(results, figure)[0]?.atLeast ?? null;
  return { arm: arms.find(({ name }) => name === figure.arm) ?? arms[0], ahead, lo, hi, claimed };
}

/** Latency by percentile, in one case. */
export function latencyFigure(results, label) {
  const arms = shownArms(results);
  const lines = arms
    .map((arm) => ({ arm, points: percentilePoints(runsOf(results, arm, label)) }))
    .filter(({ points }) => points.length > 1);
  if (lines.length === 0) return null;
  const draw = (width) => percentileChart('Latency by percentile', lines, width);
  return html`${legend(lines.map(({ arm }) => arm))}<figure>${bothWidths(draw)}</figure>
<p class="note">Medians of the rounds. Both axes are logarithmic: each step to the right leaves a tenth of the responses.</p>
`;
}

/** The metric that decides, round by round, in one case. */
export function roundsFigure(results, label) {
  const metric = mainMetric(results);
  const figures = figuresOf(results, { case: label, metric: metric?.name });
  const arms = shownArms(results)
    .filter(({ role }) => role !== 'twin')
    .map((arm) => {
      const figure =
        arm.role === 'control' ? figures[0] : figures.find((each) => each.arm === arm.name);
      return { arm, values: figure?.values?.[arm.role] ?? [] };
    });
  const draw = (width) => roundsChart(`${metric.title} by round`, arms, width);
  if (metric === null || draw(NARROW) === null) return null;
  return html`${legend(arms.map(({ arm }) => arm))}<figure>${bothWidths(draw)}</figure>
<p class="note">Each line joins the runs of one round, which are compared with each other.</p>
`;
}

/** Spread of the rounds of one case, and a typical run. */
export function caseCharts(results, label) {
  const arms = shownArms(results);
  const densities = densityCharts(results, label, arms);
  const series = seriesCharts(results, label, arms);
  if (densities.length === 0 && series.length === 0) return '';
  return html`${legend(arms)}${
    densities.length > 0 &&
    html`<h4>Spread of the rounds</h4>
<p class="note">${spreadNote(densities)}</p>
<div class="multiples">${densities.map(({ figure }) => figure)}</div>
`
  }${
    series.length > 0 &&
    html`<h4>A typical run</h4>
<p class="note">Of each arm the round in the middle by ${mainMetric(results)?.title ?? 'order'}.</p>
<div class="multiples">${series}</div>
`
  }`;
}

function densityCharts(results, label, arms) {
  const byMetric = groupBy(figuresOf(results, { case: label }), ({ metric }) => metric);
  return [...byMetric.values()]
    .map((figures) => {
      const { title, unit } = figures[0];
      const samples = arms.map((arm) => {
        const figure =
          arm.role === 'treatment' ? figures.find((each) => each.arm === arm.name) : figures[0];
        return { arm, values: figure?.values?.[arm.role] ?? [] };
      });
      const drawn = density(`Density of ${title}`, samples);
      if (drawn === null) return null;
      const { bandwidths, isScaled, drawing } = drawn;
      const scale = isScaled ? 'Each arm is drawn to a height of its own.' : '';
      const note = [bandwidthNote(bandwidths), scale].filter(Boolean).join(' ') || null;
      return { bandwidths, figure: captioned(capital(title), unit, drawing, note) };
    })
    .filter((each) => each !== null);
}

function spreadNote(densities) {
  const bandwidths = densities.flatMap((each) => each.bandwidths);
  const marks = 'Each tick is a round, each mark a median. ';
  if (bandwidths.length === 0) return marks;
  const curves = `${marks}The filled curves are densities (Gaussian kernel) with a bandwidth by Scott’s rule. `;
  if (!bandwidths.some(({ isTried }) => isTried)) {
    return `${curves}With fewer than ${FEWEST} rounds there is no cross validation of the bandwidth.`;
  }
  return `${curves}Five-fold cross validation is beside it: where it chose half of that or less, a thin line shows its curve. A dash: it found none, as values repeat or lie far from the others, or there are fewer than ${FEWEST} rounds.`;
}

/** Note of both bandwidths of each arm, as `Bandwidth, Scott’s rule / cross-validated: direct 0.42 / 0.21`. */
function bandwidthNote(bandwidths) {
  if (bandwidths.length === 0) return '';
  const isTried = bandwidths.some((each) => each.isTried);
  const each = bandwidths.map(({ arm, scott, crossValidated }) =>
    [arm.title, quantity(scott), ...(isTried ? ['/', quantity(crossValidated)] : [])].join(
      '\u00a0',
    ),
  );
  return `Bandwidth, Scott’s rule${isTried ? ' / cross-validated' : ''}: ${each.join(', ')}.`;
}

function seriesCharts(results, label, arms) {
  const main = mainMetric(results)?.name;
  const told = arms
    .map((arm) => ({ arm, run: typicalRun(runsOf(results, arm, label), main) }))
    .filter(({ run, arm }) => run !== null && arm.role !== 'twin')
    .flatMap(({ arm, run }) => seriesOf(run).map((series) => ({ ...series, arm })));
  return [...groupBy(told, ({ title }) => title)].map(([title, list]) =>
    captioned(title, list[0].unit, seriesChart(`${title} over time`, list)),
  );
}
