/** The document, docs/fleet.md, as Markdown. */
import { tickText } from '../report/charts/marks.js';
import { escapeMarkdown } from '../report/escape.js';
import {
  FLEET_HEADS,
  fleetRow,
  HANGS_HEADS,
  hangsRow,
  INPUT_HEADS,
  inputRow,
  LIMITS,
} from './words.js';

const HEAD = `<!-- Written by lab/fleet/main.js: change its inputs or words, or run it again. -->

# How large a fleet

What 100,000 to 100 million connections take: machines with nodes, brokers, and what they cost, worked out from what one node and
one broker were measured to need. It is for a first size and for seeing what will be short first. It is not for a promise: load a
part of your own fleet before you buy the rest, and it says nothing of services that are not rooms of WebSockets.

    node lab/fleet/main.js --connections 1e6 --members 50 --rate 0.05
    node lab/fleet/main.js --profile game --hold 50 --json
    node lab/fleet/main.js --help

The first prints one fleet. \`--html FILE\` and \`--markdown FILE\` write the whole study, this page among them.`;

/**
 * @param {import('./study.js').Study} study
 * @returns {string}
 */
export function document({ kinds, hangsOn, inputs, measurement }) {
  const { name, connections, rows } = hangsOn;
  const parts = [
    HEAD,
    '## Fleets',
    'Cells are fleets that share no room: more than one where a single mesh of brokers is not enough. *Short of* is the resource with the largest share in use; none is above the `target`.',
    ...kinds.flatMap((kind) => [
      `### ${escapeMarkdown(kind.name)}`,
      `${escapeMarkdown(sentence(kind.text))}`,
      table(FLEET_HEADS, kind.fleets.map(fleetRow), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]),
    ]),
    '## What the answer hangs on',
    `The cost of \`${name}\` with ${tickText(connections)} connections when one input is halved or doubled, as far as its range goes, and all others stay.`,
    table(HANGS_HEADS, rows.map(hangsRow), [2, 3, 4, 5, 6]),
    '## Inputs',
    `Each is an option of the command: \`connectionKb\` is \`--connection-kb\`. \`measured\` ones were written by \`${measurement.command}\`${on(measurement)}. The values of load are those of \`${name}\`.`,
    table(INPUT_HEADS, inputs.map(inputRow), [1]),
    measurement.notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
    '## What it leaves out',
    LIMITS.map((text) => `- ${text}`).join('\n'),
    '## How it was checked',
    'Each rate is an expectation in closed form (`lab/fleet/traffic.js`). `lab/fleet/simulate.js` plays small fleets event by event, with loops that take in turns what has come and a broker that takes one message after another; the tests compare both, message for message, and small cases with numbers worked out by hand.',
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const on = ({ date, machine }) =>
  date
    ? ` on ${machine.cpu}, ${machine.cores} cores, Node.js ${machine.node}, ${date.slice(0, 10)}`
    : '';

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** @param {number[]} numbers the columns that are aligned to the right */
function table(heads, lines, numbers) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (numbers.includes(i) ? '---:' : '---'));
  return [heads, marks, ...lines.map((cells) => cells.map(escapeMarkdown))].map(line).join('\n');
}
