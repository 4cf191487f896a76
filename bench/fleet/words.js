/** Fleets in words and figures, the same on the page and in the document. */
import { NONE, quantity, tickText } from '@millrace/lab/report';
import { shortOf } from './fleet.js';

/** The heads of a table of fleets. */
export const FLEET_HEADS = [
  ...['connections', 'machines', 'nodes', 'brokers', 'cells', 'node bottleneck'],
  ...['broker bottleneck', 'batch', 'local, remote, ms', '$ a month'],
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
  'It is a model, not a measurement of a fleet. Only one node and one broker were measured, over the loopback of one machine, where the kernel does both ends of each write. `measured` marks those inputs; replace them with your own.',
  'All figures are means. Members are spread evenly and talk at the times of a Poisson process. The `target` leaves room for peaks, reconnects after a failure and a room that everybody joins; size for your busiest minute.',
  'A node is one process on one core. Work of the kernel for the network on other cores is counted as CPU of the node.',
  'Writes of several rooms to one connection in the same turn leave as one. The model ignores that, so with `rooms` above 1 it overestimates nodes somewhat.',
  'A message from one broker to another costs the same as one from and to a node. The mesh is full: each broker knows every subscription at the others.',
  'The wait for a broker assumes that batches come at random. With `hold` they come together, and wait longer. Below the `target`, both waits are far below a millisecond.',
  'A cell is a separate fleet: the application or a gateway has to connect the members of a room to the same cell.',
  'Only memory bounds the connections of a node. The model leaves out how long they take to reconnect when it fails, and lists of present members.',
  'It also leaves out TLS, durable rooms, tasks, observability and the load balancer.',
];

export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
