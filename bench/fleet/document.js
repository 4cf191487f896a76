/** The document, docs/benchmarks/fleet.md, as Markdown. */
import { escapeMarkdown, tickText } from '@millrace/lab/report';
import {
  FLEET_HEADS,
  fleetRow,
  HANGS_HEADS,
  hangsRow,
  INPUT_HEADS,
  inputRow,
  LIMITS,
  sentence,
} from './words.js';

const HEAD = `<!-- Written by bench/fleet/model.js: change its inputs or words, or run it again. -->

# How large a fleet

How many machines and brokers 100,000 to 100 million connections need, and what they cost, extrapolated from measurements of one node and
one broker. Use it for a first estimate, and to see which resource runs out first. It is no promise: load-test a part of your own fleet before
you buy the rest. It covers only rooms of WebSockets.

    node bench/fleet/model.js --connections 1e6 --members 50 --rate 0.05
    node bench/fleet/model.js --profile game --hold 50 --json
    node bench/fleet/model.js --help

The first prints one fleet of any size. \`--html FILE\` and \`--markdown FILE\` write the study; this page is the latter, the former has more sizes
and charts.`;

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
    'Cells are fleets that share no room; there is more than one where a single mesh of brokers is not enough. A *bottleneck* is the resource with the largest share in use; none is above the `target`.',
    ...kinds.flatMap((kind) => [
      `### ${escapeMarkdown(kind.name)}`,
      `${escapeMarkdown(sentence(kind.text))}`,
      table(
        FLEET_HEADS,
        kind.fleets.filter(isShown).map(fleetRow),
        [0, 1, 2, 3, 4, 7, 8, 9, 10, 11],
      ),
    ]),
    '## What the cost depends on',
    `The cost of \`${name}\` with ${tickText(connections)} connections when one input is halved or doubled, within its range, and all others stay.`,
    table(HANGS_HEADS, rows.map(hangsRow), [2, 3, 4, 5, 6]),
    '## Inputs',
    `Each is an option of the command: \`connectionKb\` is \`--connection-kb\`. Those marked \`measured\` come from \`${measurement.command}\`${on(measurement)}. Those marked \`yours\` are the values of \`${name}\`.`,
    table(INPUT_HEADS, inputs.map(inputRow), [1]),
    measurement.notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
    '## What it leaves out',
    LIMITS.map((text) => `- ${text}`).join('\n'),
    '## How it was checked',
    'Each rate is an expectation in closed form (`bench/fleet/traffic.js`). `bench/fleet/simulate.js` plays small fleets event by event, with loops that handle all arrivals once a turn and a broker that handles one message after another. The tests compare both, message for message, and small cases with numbers computed by hand.',
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const on = ({ date, machine }) =>
  date
    ? ` on ${machine.cpu}, ${machine.cores} cores, Node.js ${machine.node}, ${date.slice(0, 10)}`
    : '';

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  return [heads, marks, ...lines.map((cells) => cells.map(escapeMarkdown))].map(line).join('\n');
}
