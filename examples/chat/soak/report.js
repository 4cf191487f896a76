/**
 * The report of a soak: a page with charts, and the same as Markdown, docs/benchmarks/soak.md. Both have the same words and rows; only the page has
 * charts, single faults and counts at rest.
 */

import {
  armDots,
  armLine,
  badge,
  bothWidths,
  captioned,
  chart,
  duration,
  escapeMarkdown,
  extent,
  html,
  legend,
  moment,
  table,
  tickText,
  WIDE,
  wholePage,
} from '@millrace/lab/report';
import { axisX, axisY, dot, gridY, line, ruleX } from '@observablehq/plot';
import { perHour } from './outcome.js';
import { SURVIVOR } from './plan.js';

const TITLE = 'The soak';

const LEAD = `The soak runs the chat under mixed load, in cycles. The plan \`faults\` has several processes of \`@millrace/cluster\` with \`millrace/auto\`, the guard, a pool and the dashboard, over NATS and PostgreSQL, and a fault in each cycle. The plan \`calm\` has one process over SQLite, and no faults.`;

/** @param {object} result */
function headline({ word, criteria }) {
  const refuted = criteria.filter((each) => each.word === 'refuted').length;
  return {
    met: 'All criteria are met.',
    refuted: `${refuted} of ${criteria.length} criteria ${refuted === 1 ? 'is' : 'are'} not met.`,
    undecided: 'No criterion is refuted, but some could not be decided.',
  }[word];
}

const GROWTH_HEADS = [
  'process',
  'memory at rest',
  'start',
  'end',
  'growth an hour, with 95 % interval',
  'verdict',
];

const growthRow = ({ who, title, points, word, ...each }) => [
  ...[who, title, mib(points[0]?.[1]), mib(points.at(-1)?.[1])],
  ...[perHour(each), word],
];

const FAULT_HEADS = ['minute', 'fault', 'what was done', 'recovered after'];

const faultRow = ({ atS, title, what, wholeAfterS, failed }) => [
  ...[(atS / 60).toFixed(1), title, what ?? '–'],
  wholeAfterS === null ? `not: ${failed}` : `${wholeAfterS.toFixed(1)} s`,
];

const COUNT_HEADS = ['what', 'how many'];

/** Meanings of the ledger's counters, in the order of the table. */
export const COUNTERS = {
  visits: 'visits of chat members',
  'broken connections': 'connections of members that broke',
  'connections turned away': 'connections of members that the guard refused',
  said: 'messages that members sent',
  'said again': 'of these, sent again after a broken connection',
  heard: 'messages that members received',
  missed: 'messages that members missed',
  requests: 'HTTP requests: messages, uploads, downloads, history, health',
  'broken requests': 'HTTP requests that failed',
  'requests turned away': 'HTTP requests that the guard refused',
  digests: 'uploaded files whose SHA-256 digest was compared',
  'slow readers': 'clients that stopped reading under a flood of messages',
  'slow readers given up': 'of these, disconnected by the chat',
  acknowledged: "messages and files acknowledged, without the load generator's",
  faults: 'violations of a criterion',
};

export function countRows(counts) {
  const known = Object.keys(COUNTERS).filter((what) => what in counts);
  const others = Object.keys(counts).filter((what) => !(what in COUNTERS));
  return [...known, ...others.sort()].map((what) => [
    COUNTERS[what] ?? what,
    counts[what].toLocaleString('en-US'),
  ]);
}

/** Heads of the table of kinds: how many, and the median and longest time until the service was whole. */
const KIND_HEADS = ['fault', 'times', 'median recovery', 'longest'];

function kindRows(faults) {
  const titles = [...new Set(faults.map(({ title }) => title))].sort();
  return titles.map((title) => {
    const times = faults
      .filter((fault) => fault.title === title && fault.wholeAfterS !== null)
      .map(({ wholeAfterS }) => wholeAfterS)
      .sort((a, b) => a - b);
    const many = faults.filter((fault) => fault.title === title).length;
    if (times.length === 0) return [title, `${many}`, '–', '–'];
    const middle = times[Math.floor(times.length / 2)];
    return [title, `${many}`, `${middle.toFixed(1)} s`, `${times.at(-1).toFixed(1)} s`];
  });
}

const LIMITS = [
  `Memory is judged for the primary and process ${SURVIVOR}, which no fault kills. It is measured when all clients have left, all threads have run a full garbage collection, and the C library has returned its free pages.`,
  'Code and free memory of V8 are not data of the program. So its optimizing compilers are off, and it has only 2 MiB for new objects.',
  'The warm-up is half of the time, at most 30 minutes: until then memory grows by code that runs for the first time.',
  'Recovery is the time from the start of a fault until all processes are there and a message sent at one arrives at each.',
  'Messages that members miss during a fault are counted, but not judged.',
  'A message sent again may be stored twice.',
  'A request that the guard refuses is counted, and not lost.',
];

const mib = (bytes) => (bytes === undefined ? '–' : `${(bytes / 2 ** 20).toFixed(1)} MiB`);

const HEAD = `<!-- Written by make soak MARKDOWN=docs/benchmarks/soak.md: run it again, or change examples/chat/soak. -->

# ${TITLE}

${LEAD}

    make soak                    # an hour
    make soak SOAK_SECONDS=600

It writes a page with charts, and all samples, into a folder whose name it prints. [The README](../../examples/chat/soak/README.md) has the faults and the criteria.`;

/** Drawn from the table above it by `node docs/images/make.js growth`. */
const PICTURE =
  '![Growth of memory an hour, with intervals, beside the limit of one per cent](../images/growth.svg)';

/**
 * @param {object} result of `soakResult`
 * @returns {string}
 */
export function document(result) {
  const { seconds, tookS, every, seed, host, criteria, growth, found, counts } = result;
  const parts = [
    HEAD,
    '## Result',
    `${headline(result)} It ran for ${duration(tookS)} (planned: ${duration(seconds)}), with a fault every ${duration(every)} and seed ${seed}, on ${escapeMarkdown(host.cpu)}, ${host.cores} cores with other work on them (load average ${host.load_average[0].toFixed(1)} at the start), Node.js ${host.node}.`,
    markdownTable(
      ['criterion', '', 'judged by'],
      criteria.map(({ name, word, text }) => [name, word, text]),
    ),
    ...criteria
      .filter(({ faults }) => faults.length > 0)
      .map(
        ({ name, faults }) =>
          `${escapeMarkdown(name)}:\n\n${faults
            .slice(0, 20)
            .map((text) => `- ${escapeMarkdown(text)}`)
            .join('\n')}`,
      ),
    '## Memory at rest',
    markdownTable(GROWTH_HEADS, growth.map(growthRow)),
    PICTURE,
    '## Faults',
    markdownTable(KIND_HEADS, kindRows(found.faults)),
    '## What was counted',
    markdownTable(COUNT_HEADS, countRows(counts)),
    '## How to read it',
    LIMITS.map((text) => `- ${text}`).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

const row = (cells) => `| ${cells.join(' | ')} |`;

const markdownTable = (heads, rows) =>
  [
    row(heads),
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((cells) => row(cells.map((text) => escapeMarkdown(text)))),
  ].join('\n');

const MIB = 2 ** 20;

/** Most faults of a criterion that are listed. */
const MOST_FAULTS = 20;

/**
 * @param {object} result of `soakResult`
 * @returns {string} HTML
 */
export function page(result) {
  const {
    date,
    plan,
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
    ['plan', plan],
    ['planned', duration(seconds)],
    ['took', duration(tookS)],
    ['a cycle takes', duration(every)],
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
  const broker = samples.filter(({ brokerRss }) => brokerRss !== null);
  if (broker.length > 0) {
    lines.push({
      title: 'broker',
      points: broker.map(({ atS, brokerRss }) => [atS, brokerRss / MIB]),
    });
  }
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

const STYLES = ['arm-1', 'arm-2', 'arm-3', 'arm-4', 'arm-5', 'control'];

/** Arm of a line, for the marks of reports. */
const lineOf = (title, i) => ({
  title,
  style: STYLES[i % STYLES.length],
  role: 'treatment',
});

const legendOf = (titles) => legend(titles.map(lineOf));

/**
 * Lines over the minutes of the soak; what is left of the dotted line came before the judgement.
 *
 * @param {string} label
 * @param {{ title: string, points: [number, number][], hasDots?: boolean }[]} lines
 * @param {object} options
 * @param {number} options.width
 * @param {number} options.warmUpS
 * @param {boolean} [options.isFromZero]
 */
function timeChart(label, lines, { width, warmUpS, isFromZero = false }) {
  const drawn = lines.map(({ title, points, hasDots }, i) => ({
    ...{ arm: lineOf(title, i), hasDots },
    points: points.map(([seconds, value]) => [seconds / 60, value]),
  }));
  const all = drawn.flatMap(({ points }) => points);
  const [least, most] = extent(all.map(([, value]) => value));
  const around = (most - least) * 0.1;
  const domain = isFromZero ? [0, most * 1.05] : [Math.max(0, least - around), most + around];
  return chart(label, {
    ...{ width, height: width === WIDE ? 260 : 210, marginLeft: 48, marginRight: 16 },
    marginBottom: 34,
    x: { domain: [0, Math.max(...all.map(([minutes]) => minutes))] },
    y: { domain },
    marks: [
      gridY({ ticks: 5, stroke: 'var(--rule)', strokeOpacity: 1 }),
      axisX({ ticks: width === WIDE ? 10 : 5, tickSize: 4, label: 'minutes' }),
      axisY({ ticks: 5, tickSize: 0, tickFormat: tickText, label: null }),
      ruleX([warmUpS / 60], { stroke: 'var(--soft)', strokeDasharray: '2,3' }),
      ...drawn.map(({ arm, points }) => armLine(arm, points, { curve: 'linear' })),
      ...drawn
        .filter(({ hasDots }) => hasDots)
        .map(({ arm, points }) => armDots(arm, points, { r: 2 })),
    ],
  });
}

/** Times until the service was whole again: a dot for each fault, a row for each kind. */
function recoveryChart(label, faults, width) {
  const titles = [...new Set(faults.map(({ title }) => title))];
  const row = new Map(titles.map((title, i) => [title, i]));
  const dots = faults
    .filter(({ wholeAfterS }) => wholeAfterS !== null)
    .map(({ title, wholeAfterS }) => ({ y: row.get(title), x: wholeAfterS, title }));
  return chart(label, {
    ...{ width, height: 40 + 30 * titles.length, marginLeft: 150, marginRight: 16 },
    marginBottom: 34,
    x: { domain: [0, Math.max(1, ...dots.map(({ x }) => x)) * 1.05] },
    y: { domain: [titles.length - 0.5, -0.5] },
    marks: [
      line([], {}),
      axisX({ ticks: 6, tickSize: 4, label: 'seconds' }),
      axisY({
        ...{ ticks: titles.map((_, i) => i), tickSize: 0, label: null },
        tickFormat: (i) => titles[i],
      }),
      dot(dots, { x: 'x', y: 'y', r: 3.5, stroke: 'var(--arm-1)', fill: 'var(--paper)' }),
    ],
  });
}
