/** Fleets in words and figures, the same on the page and in the document. */
import { tickText } from '../report/charts/marks.js';
import { NONE, quantity } from '../report/numbers.js';
import { shortOf } from './fleet.js';

/** The heads of a table of fleets. */
export const FLEET_HEADS = [
  ...['connections', 'machines', 'nodes', 'brokers', 'cells', 'nodes are short of'],
  ...['brokers are short of', 'batch', 'local, remote, ms', '$ a month'],
  ...['$ a million sent', '$ a million delivered'],
];

/** A row of it, as texts. */
export function fleetRow({ connections, fleet }) {
  const size = tickText(connections);
  if (!fleet.isPossible) return [size, fleet.why, ...Array(FLEET_HEADS.length - 2).fill(NONE)];
  const { machines, nodes, brokers, cells, bottleneck, batch, latencyMs, cost } = fleet;
  return [
    ...[size, quantity(machines), quantity(nodes), quantity(brokers), quantity(cells)],
    ...[shortOf(bottleneck.node), shortOf(bottleneck.broker), quantity(batch)],
    `${quantity(latencyMs.local)}, ${quantity(latencyMs.remote)}`,
    quantity(Math.round(cost.perMonth)),
    ...[money(cost.perMillionSent), money(cost.perMillionDelivered)],
  ];
}

const money = (dollars) => (dollars === null ? NONE : quantity(dollars));

export const HANGS_HEADS = [
  ...['input', 'from', 'halved: cost', 'servers'],
  ...['doubled: cost', 'servers', 'largest factor'],
];

export const hangsRow = ({ name, source, less, more, swing }) => [
  ...[name, source, times(less.cost), times(less.servers), times(more.cost), times(more.servers)],
  times(swing),
];

const times = (ratio) => (ratio === null ? 'no fleet will do' : `${quantity(ratio)}×`);

export const INPUT_HEADS = ['input', 'value', 'unit', 'from', 'meaning'];

export const inputRow = ({ name, value, unit, source, text }) => [
  ...[name, quantity(value), unit, source, text],
];

/** What was assumed where nothing could be measured, and what the figures leave out. */
export const LIMITS = [
  'A model, not a measurement of a fleet: what was measured is one node and one broker, over the loopback of one machine, where the kernel does both ends of each write. `measured` names those inputs; replace them with your own.',
  'Means. Members are spread evenly and talk at times of a Poisson process. Peaks, reconnects after a failure and a room that everybody joins are what the `target` leaves room for; size for your busiest minute.',
  'A node is one process on one core. What the kernel does for the network on other cores is taken to be in its CPU.',
  'Writes of several rooms to one connection in the same turn leave as one; that is not counted, so with `rooms` above 1 nodes are somewhat overestimated.',
  'A message of a broker to another costs what one from and to a node does. The mesh is full: each broker knows every subject that somebody at another wants.',
  'The wait for a broker takes batches to come at random. With `hold` they come together, and wait longer; both are far below a millisecond below the target.',
  'A cell is a fleet of its own: who is in a room has to be connected to its cell, which is for the application or a gateway to see to.',
  'Nothing but memory bounds the connections of a node: how long they take to come back when it fails is not in it, nor are lists of who is present.',
  'TLS, durable rooms, tasks, observability and the load balancer are not in it.',
];
