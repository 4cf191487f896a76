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

/** Assumptions where nothing could be measured, and what the figures leave out. */
export const LIMITS = [
  'Only one node and one broker were measured, over the loopback of one machine, where the kernel does both ends of each write. Replace the `measured` inputs with your own.',
  'All figures are means. Members are spread evenly and talk at random times. The `target` leaves room for peaks and for reconnects after a failure; size for your busiest minute.',
  'Work of the kernel for the network, on any core, is counted as CPU of the node.',
  'The model does not merge writes of several rooms to one connection, so with `rooms` above 1 it overestimates nodes somewhat.',
  'A message between brokers costs the same as one from and to a node. Each broker knows every subscription at the others.',
  'The wait for a broker assumes that batches come at random. With `hold` they come together, and wait longer. Below the `target`, both waits are far below a millisecond.',
  'The application or a gateway has to connect the members of a room to the same cell.',
  'The model leaves out the time to reconnect after a failure, lists of present members, TLS, durable rooms, tasks, observability and the load balancer.',
];

export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
