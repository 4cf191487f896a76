/** The smallest fleet that will do: machines with nodes, brokers, and cells where one cluster of brokers is not enough. */
import { brokerLoad } from './broker.js';
import { costOf } from './cost.js';
import { fleetTraffic } from './crowd.js';
import { nodeLoad } from './node.js';

/** Most machines of a fleet. */
const MOST_MACHINES = 2 ** 24;
const MOST_CELLS = 2 ** 16;

/**
 * @param {Record<string, any>} s as `scenario` makes it
 * @returns {Fleet}
 *
 * @typedef {object} Fleet
 * @property {boolean} isPossible
 * @property {string | null} why what is in the way, when it is not possible
 * @property {number} cells fleets that share no room
 * @property {number} machines with nodes; this and the next two of all cells
 * @property {number} nodes
 * @property {number} brokers
 * @property {{ node: Bottleneck, broker: Bottleneck }} bottleneck what is nearest to its target
 * @property {{ node: object, broker: object }} use shares in use, by resource
 * @property {object} node and `broker`: the mean one, as `nodeLoad` and `brokerLoad` say
 * @property {number} turnMs length of a loop turn
 * @property {number} batch messages in a batch
 * @property {{ local: number, remote: number | null }} latencyMs mean time until a message is written to a member of the same node, and
 *   of another, where there are others
 * @property {object} cost of all cells, as `costOf` says
 *
 * @typedef {{ resource: string, use: number, of: string | null }} Bottleneck `of`: what most of the CPU is used for
 */
export function fleetOf(s) {
  if (s.cells !== 'auto') return cellsOf(s, s.cells);
  let found = cellsOf(s, 1);
  const largest = Math.max(...s.members.map(([members]) => members));
  const most = Math.min(MOST_CELLS, Math.floor(s.connections / largest));
  for (let cells = 2; !found.isPossible && cells <= most; cells *= 2) {
    const next = cellsOf(s, cells);
    // What no number of cells helps against is told as it is with one.
    if (next.isPossible) found = next;
  }
  return found;
}

/** A fleet of a number of cells, which are alike. */
function cellsOf(s, cells) {
  const cell = { ...s, connections: s.connections / cells };
  const largest = Math.max(...s.members.map(([members]) => members));
  if (cell.connections < largest) {
    return impossible(`a cell of ${cell.connections} connections has no room of ${largest}`);
  }
  const machines = fewestMachines(cell);
  if (machines === null) return impossible(whyNoNodes(cell));
  const nodes = machines * s.cores;
  const node = nodeLoad(cell, nodes);
  const brokers = fewestBrokers(cell, nodes, node.window);
  const tried = { nodes, brokers: brokers ?? s.brokerMost, window: node.window };
  const broker = brokerLoad(cell, tried);
  if (brokers === null) {
    return impossible(
      `${s.brokerMost} brokers would use ${shortOf(bottleneck(broker))} of what they have`,
    );
  }
  return {
    ...{ isPossible: true, why: null, cells },
    ...{ machines: machines * cells, nodes: nodes * cells, brokers: brokers * cells },
    bottleneck: { node: bottleneck(node), broker: bottleneck(broker) },
    use: { node: node.use, broker: broker.use },
    ...{ node, broker },
    turnMs: node.turn * 1000,
    batch: batchOf(cell, nodes, node.window),
    latencyMs: latency(s, node, broker),
    cost: times(costOf(cell, { ...tried, machines, brokerBytes: broker.bytes * brokers }), cells),
  };
}

function batchOf(s, nodes, window) {
  const { messages, batches } = fleetTraffic(s, { nodes, brokers: 1, window });
  return batches > 0 ? messages / batches : 0;
}

const impossible = (why) => ({ isPossible: false, why });

const fits = (use, { target }) => Object.values(use).every((share) => share <= target);

/** The resource of which most is in use, and what most of the CPU is used for. */
function bottleneck({ use, cpu }) {
  const [resource, most] = largest(use);
  return { resource, use: most, of: resource === 'cpu' ? largest(cpu)[0] : null };
}

const largest = (shares) => Object.entries(shares).reduce((a, b) => (b[1] > a[1] ? b : a));

/** In words: `cpu 58 % (deliveries)`. */
export const shortOf = ({ resource, use, of }) =>
  `${resource} ${Math.round(use * 100)} %${of === null ? '' : ` (${of})`}`;

/** Twice as many until they are enough, then between the last two; null when no number is. */
function fewestMachines(s) {
  const isEnough = (machines) => fits(nodeLoad(s, machines * s.cores).use, s);
  let hi = s.least;
  while (!isEnough(hi)) {
    hi *= 2;
    if (hi > MOST_MACHINES) return null;
  }
  let lo = hi === s.least ? hi - 1 : hi / 2;
  while (hi - lo > 1) {
    const middle = Math.floor((lo + hi) / 2);
    if (isEnough(middle)) hi = middle;
    else lo = middle;
  }
  return hi;
}

/** Reason why no number of nodes will do, at the number of machines that comes nearest. */
function whyNoNodes(s) {
  let best = { use: Number.POSITIVE_INFINITY };
  for (let machines = s.least; machines <= MOST_MACHINES; machines *= 2) {
    const found = bottleneck(nodeLoad(s, machines * s.cores));
    if (found.use < best.use) best = found;
  }
  if (best.resource !== 'room') {
    return `nodes would use ${shortOf(best)} of what they have, however many there are`;
  }
  return `the largest room would use ${Math.round(best.use * 100)} % of its node`;
}

/** Least number of brokers. Each number is tried: with two brokers each may have more to do than one has. */
function fewestBrokers(s, nodes, window) {
  for (let brokers = s.brokerLeast; brokers <= s.brokerMost; brokers += 1) {
    if (fits(brokerLoad(s, { nodes, brokers, window }).use, s)) return brokers;
  }
  return null;
}

function latency({ hopMs, placement }, { turn, window }, { waitMs }) {
  // Until the turn or hold that it comes in is over, and then the turn that writes it.
  const local = (window / 2 + turn) * 1000;
  return { local, remote: placement === 'room' ? null : 2 * local + 2 * hopMs + waitMs };
}

const times = ({ perMillionSent, perMillionDelivered, ...parts }, cells) => ({
  ...Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value * cells])),
  ...{ perMillionSent, perMillionDelivered },
});
