/** Work of one broker of a full mesh: each is linked to each, and knows which subjects all others want. */
import { fleetTraffic } from './crowd.js';

const GIGABIT = 1e9 / 8;

/**
 * The mean broker.
 *
 * @param {object} s the scenario, of one cell
 * @param {{ nodes: number, brokers: number, window: number }} fleet
 * @returns {{ use: { cpu: number, memory: number, network: number }, waitMs: number, subscriptions: number,
 *   cpu: { intake: number, 'fan-out': number, routes: number, heartbeats: number },
 *   rates: { in: number, out: number, routed: number }, bytes: number }} `use`: shares of what a broker has that are in use; `cpu`: what
 *   its CPU is used for, as shares; `waitMs`: the mean wait of a message for the ones before it; a second: messages from nodes, to nodes, to other brokers, and bytes out
 */
export function brokerLoad(s, { nodes, brokers, window }) {
  const t = fleetTraffic(s, { nodes, brokers, window });
  const beats = heartbeats(s, nodes, brokers);
  const each = (total) => total / brokers;
  const rates = {
    in: each(t.batches + beats.in),
    out: each(t.batchesIn + beats.out),
    routed: each(t.routed + beats.routed),
  };
  const capacity = 1e6 * s.brokerCores * s.brokerShare;
  const share = (handled, handedOn) => each(handled * s.inUs + handedOn * s.outUs) / capacity;
  const cpu = {
    intake: share(t.batches, 0),
    'fan-out': share(0, t.batchesIn),
    routes: share(t.routed, t.routed),
    heartbeats: share(beats.in + beats.routed, beats.out + beats.routed),
  };
  const busy = Object.values(cpu).reduce((a, b) => a + b, 0);
  const subscriptions = each(t.spread) + (t.brokerSpread * (brokers - 1)) / brokers;
  const bytes =
    (rates.out + rates.routed) * s.headerBytes +
    each(t.recordsIn + t.recordsRouted) * (s.bytes + s.recordBytes);
  const memory =
    subscriptions * s.subscriptionBytes + each(nodes) * s.linkKb * 1e3 + s.brokerMb * 1e6;
  return {
    ...{ rates, subscriptions, bytes, cpu },
    use: {
      cpu: busy,
      memory: memory / (s.brokerMemory * 1e9),
      network: bytes / (s.brokerNetwork * GIGABIT),
    },
    waitMs: waitMs(busy, rates.in + rates.routed),
  };
}

/** A node tells all others that it is there. */
function heartbeats({ heartbeat }, nodes, brokers) {
  if (heartbeat === 0) return { in: 0, out: 0, routed: 0 };
  const beats = nodes / heartbeat;
  return { in: beats, out: beats * (nodes - 1), routed: beats * (Math.min(brokers, nodes) - 1) };
}

/**
 * The mean wait of messages that come at random to a server that takes equally long for each (Pollaczek and Khinchine).
 *
 * @param {number} use share of its time that it works
 * @param {number} rate messages a second
 * @returns {number} ms; Infinity where it cannot keep up
 */
export function waitMs(use, rate) {
  if (use >= 1) return Number.POSITIVE_INFINITY;
  if (rate === 0) return 0;
  return (((use / rate) * use) / (2 * (1 - use))) * 1000;
}
