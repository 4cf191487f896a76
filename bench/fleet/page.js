/** The page. */
import {
  bothWidths,
  captioned,
  html,
  legend,
  table,
  tickText,
  wholePage,
} from '@millrace/lab/report';
import { lineOf, sizeChart, tornado } from './charts.js';
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

/** Lines in one chart: there are as many looks. */
const MOST_LINES = 6;

/**
 * @param {import('./study.js').Study} study
 * @returns {string}
 */
export function page({ kinds, hangsOn, inputs, measurement }) {
  const { name, connections, rows } = hangsOn;
  const title = 'How large a fleet';
  const shown = kinds.slice(0, MOST_LINES);
  const arms = shown.map((kind, i) => lineOf(kind.name, i));
  return wholePage(
    title,
    html`<header><p class="kicker">Millrace lab</p><h1>${title}</h1></header>
<p>Machines and brokers for rooms of WebSockets, extrapolated from measurements of one node and one broker.</p>
${legend(arms)}${[
  ['Machines with nodes', ({ machines }) => machines],
  ['Brokers', ({ brokers }) => brokers],
  ['$ a million messages delivered', ({ cost }) => cost.perMillionDelivered],
].map(([label, of]) => lines(label, shown, arms, of))}${kinds.map(
  (kind) => html`<h3>${kind.name}</h3>
<p>${sentence(kind.text)}</p>
${table(FLEET_HEADS, kind.fleets.map(fleetRow))}`,
)}<h3>What the cost depends on</h3>
<p>The cost of ${name} with ${tickText(connections)} connections when one input is halved (blue) or doubled (orange).</p>
${
  rows.length > 0 &&
  captioned(
    'Cost, against that of the fleet as it is',
    '',
    bothWidths((width) => tornado('What the cost depends on', rows, width)),
  )
}${table(HANGS_HEADS, rows.map(hangsRow))}<h3>Inputs</h3>
<p>Measured ones come from <code>${measurement.command}</code>.</p>
${table(INPUT_HEADS, inputs.map(inputRow))}<h3>What it leaves out</h3>
<ul>${[...measurement.notes, ...LIMITS].map((text) => html`<li>${text.replaceAll('`', '')}</li>`)}</ul>
`,
  );
}

function lines(label, kinds, arms, of) {
  const drawn = kinds
    .map(({ fleets }, i) => ({
      arm: arms[i],
      points: fleets
        .filter(({ fleet }) => fleet.isPossible && of(fleet) > 0)
        .map(({ connections, fleet }) => [connections, of(fleet)]),
    }))
    .filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return '';
  return captioned(
    label,
    '',
    bothWidths((width) => sizeChart(label, drawn, width)),
  );
}
