/** The page. */
import { bothWidths, captioned } from '../../report/charts/plot.js';
import { html } from '../../report/escape.js';
import { duration, moment } from '../../report/numbers.js';
import { badge } from '../../report/sections/verdict.js';
import { table } from '../../report/table.js';
import { wholePage } from '../../report/whole-page.js';
import { legendOf, recoveryChart, timeChart } from './charts.js';
import {
  COUNT_HEADS,
  countRows,
  FAULT_HEADS,
  faultRow,
  GROWTH_HEADS,
  growthRow,
  headline,
  KIND_HEADS,
  kindRows,
  LEAD,
  LIMITS,
  TITLE,
} from './words.js';

const MIB = 2 ** 20;

/** What is wrong with a criterion, at most. */
const MOST_FAULTS = 20;

/**
 * @param {object} result as result.js has it
 * @returns {string} HTML
 */
export function page(result) {
  const {
    date,
    seconds,
    tookS,
    every,
    seed,
    host,
    word,
    criteria,
    growth,
    found,
    counts,
    warmUpS,
  } = result;
  const facts = [
    ['date', moment(date)],
    ['planned', duration(seconds)],
    ['took', duration(tookS)],
    ['a fault every', duration(every)],
    ['seed', seed],
    ['processor', host.cpu],
    ['cores', host.cores],
    ['load average at the start', host.load_average[0].toFixed(1)],
    ['Node.js', host.node],
  ];
  return wholePage(
    TITLE,
    html`<header><p class="kicker">Millrace lab</p><h1>${TITLE}</h1></header>
<p>${LEAD.replaceAll('`', '')}</p>
<section class="verdict" data-word="${word}">
<p class="finding">${badge(word)} ${headline(result)}</p>
<dl class="claims">${criteria.map(
      (each) => html`<dt>${badge(each.word)}</dt>
<dd><strong>${each.name}</strong><p>${each.text}.</p>${
        each.faults.length > 0 &&
        html`<ul>${shortened(each.faults).map((text) => html`<li>${text}</li>`)}</ul>`
      }</dd>`,
    )}</dl>
</section>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<h3>Memory at rest</h3>
<p class="note">After a full collection, when everybody has left and free memory was given back. What is right of the dotted line is judged.</p>
${table(GROWTH_HEADS, growth.map(growthRow))}
${['heap', 'rss', 'native'].map((key) =>
  memoryCharts(
    growth.filter((each) => each.key === key),
    warmUpS,
  ),
)}
<h3>Under load</h3>
${underLoad(found.samples, warmUpS)}
<h3>Faults</h3>
${
  found.faults.length > 0 &&
  captioned(
    'Time until the service was whole again',
    's',
    bothWidths((width) => recoveryChart('Recovery', found.faults, width)),
  )
}
${table(KIND_HEADS, kindRows(found.faults))}
<details><summary>All faults</summary>${table(FAULT_HEADS, found.faults.map(faultRow))}</details>
<h3>At rest</h3>
${restTable(found.rests)}
<h3>What was counted</h3>
${table(COUNT_HEADS, countRows(counts))}
<h3>How to read it</h3>
<ul>${LIMITS.map((text) => html`<li>${text}</li>`)}</ul>
`,
  );
}

const shortened = (faults) =>
  faults.length <= MOST_FAULTS
    ? faults
    : [...faults.slice(0, MOST_FAULTS), `${faults.length - MOST_FAULTS} more`];

function memoryCharts(growth, warmUpS) {
  const drawn = growth.filter(({ points }) => points.length > 1);
  return html`<div class="multiples">${drawn.map(({ who, title, points }) => {
    const lines = [{ title: who, points: points.map(([s, v]) => [s, v / MIB]), hasDots: true }];
    return captioned(`${who}: ${title}`, 'MiB', timeChart(who, lines, { width: 340, warmUpS }));
  })}</div>`;
}

function underLoad(samples, warmUpS) {
  if (samples.length < 2) return '';
  const names = [...new Set(samples.flatMap(({ rss }) => Object.keys(rss)))].sort();
  const lines = names.map((title) => ({
    title,
    points: samples
      .filter(({ rss }) => rss[title] !== undefined)
      .map(({ atS, rss }) => [atS, rss[title] / MIB]),
  }));
  lines.push({
    title: 'broker',
    points: samples.map(({ atS, brokerRss }) => [atS, brokerRss / MIB]),
  });
  const delays = [
    {
      title: 'longest delay of a loop',
      points: samples.map(({ atS, loopDelayMs }) => [atS, Math.max(...Object.values(loopDelayMs))]),
    },
  ];
  const draw = (label, drawn) =>
    bothWidths((width) => timeChart(label, drawn, { width, warmUpS, isFromZero: true }));
  return html`${legendOf(lines.map(({ title }) => title))}
${captioned('Resident memory', 'MiB', draw('Resident memory', lines))}
${captioned('Longest delay of any loop', 'ms', draw('Loop delay', delays))}`;
}

function restTable(rests) {
  const counted = rests.filter(({ counts }) => counts !== undefined);
  if (counted.length === 0) return '';
  const rows = Object.keys(counted[0].counts).flatMap((who) =>
    [...new Set(counted.flatMap(({ counts }) => Object.keys(counts[who] ?? {})))].map((what) => [
      ...[who, what],
      ...ofAll(counted.map(({ counts }) => counts[who]?.[what] ?? 0)),
    ]),
  );
  const [first, last] = [counted[0], counted.at(-1)].map(({ atS }) => Math.round(atS / 60));
  return table(['process', 'what', `at ${first} min`, 'most', `at ${last} min`], rows);
}

const ofAll = (numbers) => [numbers[0], Math.max(...numbers), numbers.at(-1)];
