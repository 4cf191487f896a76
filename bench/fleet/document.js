/** The document, docs/benchmarks/fleet.md, as Markdown. */
import { escapeMarkdown, quantity, tickText } from '@millrace/lab/report';
import { fleetRow, hangsRow, inputRow, LIMITS } from './words.js';

const HEAD = `<!-- Written by bench/fleet/model.js: change its inputs or words, or run it again. -->

# How large a fleet

Machines, brokers and costs of 100,000 to 100 million connections in rooms of WebSockets, extrapolated from measurements of one node and
one broker. Use it for a first estimate, and to see which resource runs out first. Load-test a part of your own fleet before
you buy the rest.

    node bench/fleet/model.js --connections 1e6 --members 50 --rate 0.05
    node bench/fleet/model.js --profile game --hold 50 --json
    node bench/fleet/model.js --help

The first prints one fleet of any size. \`--markdown FILE\` writes this page, \`--html FILE\` one with more sizes and charts.`;

/** The sizes of the page: powers of ten. */
const isShown = ({ connections }) => Number.isInteger(Math.log10(connections));

/**
 * @param {import('./study.js').Study} study
 * @returns {string}
 */
export function document({ kinds, hangsOn, inputs, measurement }) {
  const { name, connections, rows } = hangsOn;
  const parts = [
    HEAD,
    '## Fleets',
    'A machine runs a node on each core. Cells are fleets that share no room, for more than a single mesh of brokers can do. A *bottleneck* is the resource with the largest share in use; none is above the `target`.',
    kinds.map(({ name: kind, text }) => `- \`${kind}\`: ${escapeMarkdown(text)}`).join('\n'),
    table(FLEET_COLUMNS, kinds.flatMap(fleetRows), [1, 2, 3, 4, 7, 8, 9]),
    batches(kinds),
    '## What the cost depends on',
    `The cost of \`${name}\` with ${tickText(connections)} connections when one input is halved or doubled, within its range.`,
    table(HANGS_COLUMNS, rows.map(hangsCells), [1, 2, 3]),
    '## Inputs',
    `Each is an option of the command: \`connectionKb\` is \`--connection-kb\`. The \`measured\` ones come from \`${measurement.command}\`${on(measurement)}. \`yours\` are those of \`${name}\`.`,
    table(['input', 'value', 'from', 'meaning'], inputs.map(inputCells), [1]),
    measurement.notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
    '## What it leaves out',
    LIMITS.map((text) => `- ${text}`).join('\n'),
    '## How it was checked',
    'Each rate is an expectation in closed form (`bench/fleet/traffic.js`). Tests compare it with small fleets played event by event (`bench/fleet/simulate.js`), message for message, and with numbers computed by hand.',
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const FLEET_COLUMNS = [
  ...['fleet', 'connections', 'machines', 'brokers', 'cells', 'node bottleneck'],
  ...['broker bottleneck', 'local, remote, ms', '$ a month', '$ a million sent, delivered'],
];

/** The rows of a kind, the first with its name. */
const fleetRows = ({ name, fleets }) =>
  fleets.filter(isShown).map((each, i) => {
    const [size, machines, , brokers, cells, node, broker, , ms, month, sent, delivered] =
      fleetRow(each);
    const first = i === 0 ? name : '';
    return [
      ...[first, size, machines, brokers, cells, node, broker, ms, month],
      `${sent}, ${delivered}`,
    ];
  });

/** A sentence on the kinds whose batches have more than one message; '' when there are none. */
function batches(kinds) {
  const told = kinds.flatMap(({ name, fleets }) => {
    const sizes = fleets
      .filter((each) => isShown(each) && each.fleet.isPossible)
      .map(({ fleet }) => fleet.batch);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)].map(quantity);
    if (sizes.every((size) => size < 1.005)) return [];
    return [`\`${name}\` ${least === most ? least : `${least} to ${most}`}`];
  });
  return told.length === 0
    ? ''
    : `Messages per batch, where it is more than one: ${told.join(', ')}.`;
}

const HANGS_COLUMNS = [
  ...['input', 'halved: cost, servers', 'doubled: cost, servers', 'largest factor'],
];

function hangsCells(row) {
  const [name, , lessCost, lessServers, moreCost, moreServers, swing] = hangsRow(row);
  return [name, `${lessCost}, ${lessServers}`, `${moreCost}, ${moreServers}`, swing];
}

function inputCells(input) {
  const [name, value, unit, source, text] = inputRow(input);
  return [name, `${value} ${unit}`.trim(), source, text];
}

const on = ({ date, machine }) =>
  date
    ? ` on ${machine.cpu}, ${machine.cores} cores, Node.js ${machine.node}, ${date.slice(0, 10)}`
    : '';

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  const body = lines.map((cells) => line(cells.map(escapeMarkdown)));
  return [line(heads), `|${marks.join('|')}|`, ...body].join('\n');
}
