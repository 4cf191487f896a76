/** Work of one node of a fleet: a process with one loop, of which a machine runs one on each core. */
import { fleetTraffic, roomsOf } from './crowd.js';
import { turnOf } from './turn.js';

const GIGABIT = 1e9 / 8;

/**
 * The mean node.
 *
 * @param {object} s the scenario, of one cell
 * @param {number} nodes 1 or more
 * @returns {{ turn: number, window: number, use: { cpu: number, memory: number, network: number, room: number },
 *   cpu: { messages: number, deliveries: number, broker: number, heartbeats: number } }} seconds; `use`: shares of what a node has
 *   that are in use, where `room` is the CPU of its largest room when that is at one node; `cpu`: what the CPU is used for, as shares
 */
export function nodeLoad(s, nodes) {
  const perNode = (window) => mapped(fleetTraffic(s, { nodes, brokers: 1, window }), 1 / nodes);
  const beats = s.heartbeat > 0 ? nodes / s.heartbeat : 0;
  const { turn, window, busy } = turnOf((each) => sum(cpuOf(s, perNode(each), beats)), s);
  const traffic = perNode(window);
  const clients = s.connections / nodes;
  const memory = (s.connectionKb + s.kernelKb) * 1e3 * clients + s.processMb * 1e6;
  return {
    ...{ turn, window },
    cpu: cpuOf(s, traffic, beats),
    use: {
      cpu: busy,
      memory: (memory * s.cores) / (s.memory * 1e9),
      network: (bytesOut(s, traffic) * s.cores) / (s.network * GIGABIT),
      room: s.placement === 'room' ? largestRoom(s, window) : 0,
    },
  };
}

/** Shares of a core. */
function cpuOf(s, traffic, beats) {
  const { messages, sends, deliveries, batches, batchesIn, recordsIn } = traffic;
  return {
    messages: (messages * s.receiveUs) / 1e6,
    deliveries: (sends * s.sendUs + deliveries * s.deliverUs) / 1e6,
    broker: (batches * s.publishUs + batchesIn * s.batchUs + recordsIn * s.recordUs) / 1e6,
    heartbeats: (beats * s.batchUs) / 1e6,
  };
}

/** Bytes that leave a node, more than come: a message that comes is delivered to many. */
const bytesOut = (s, { messages, sends, deliveries, batches }) =>
  clientBytes(s, { sends, deliveries }) +
  batches * s.headerBytes +
  messages * (s.bytes + s.recordBytes);

/** Bytes to clients: the frame of a message has 2 bytes before its payload, 4 or 10 when that is longer. */
export const clientBytes = (s, { sends, deliveries }) => {
  const frame = s.bytes < 126 ? 2 : s.bytes < 65_536 ? 4 : 10;
  return deliveries * (s.bytes + frame) + sends * s.packet;
};

/** The CPU of the largest room alone, which its node cannot share with others. */
function largestRoom(s, window) {
  const members = Math.max(...roomsOf(s).map((each) => each.members));
  const one = {
    ...s,
    connections: members,
    rooms: 1,
    rate: s.rate / s.rooms,
    members: [[members, 1]],
  };
  return sum(cpuOf(one, fleetTraffic(one, { nodes: 1, brokers: 1, window }), 0));
}

const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);

const mapped = (all, times) =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value * times]));
