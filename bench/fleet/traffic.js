/**
 * Traffic that rooms make of messages, as expectations: each member of a room publishes at times of a Poisson process, and is at any node
 * with the same probability. Sums over binomial numbers of members come out in closed form, from their generating functions.
 */

/**
 * Rates of one room.
 *
 * @param {object} room
 * @param {number} room.members
 * @param {number} room.rate messages a second that one member sends to it
 * @param {number} room.nodes that its members may be at
 * @param {number} room.brokers that the nodes are shared out to
 * @param {number} room.window seconds whose messages leave together
 * @returns {Traffic}
 *
 * @typedef {object} Traffic each a second, of one room; of `spread` and `brokerSpread` the mean
 * @property {number} messages sent by members
 * @property {number} deliveries to members
 * @property {number} sends writes to members
 * @property {number} batches that nodes hand to their brokers
 * @property {number} routed batches that brokers hand to other brokers
 * @property {number} batchesIn that brokers hand to nodes
 * @property {number} recordsIn messages in those
 * @property {number} recordsRouted messages in routed batches
 * @property {number} spread nodes with a member
 * @property {number} brokerSpread brokers with such a node
 */
export function roomTraffic({ members: m, rate, nodes: n, brokers: b, window }) {
  const used = Math.min(b, n);
  const [atNode, atBroker] = [1 / n, 1 / used];
  // A window of nothing has one message at most.
  const seconds = Math.max(window, rate > 0 ? 1e-6 / rate : 1);
  /** Probability that one member says something in a window, and is at a given node. */
  const speaks = -Math.expm1(-rate * seconds) * atNode;
  const messages = m * rate;
  return {
    messages,
    deliveries: messages * m,
    sends: (m * -Math.expm1(-messages * seconds)) / seconds,
    batches: (n * any(speaks, m)) / seconds,
    routed: (n * (used - 1) * heard(speaks, atBroker, m)) / seconds,
    batchesIn: (n * (n - 1) * heard(speaks, atNode, m)) / seconds,
    recordsIn: messages * (n - 1) * any(atNode, m - 1),
    recordsRouted: messages * (used - 1) * any(atBroker, m - 1),
    spread: n * any(atNode, m),
    brokerSpread: used * any(atBroker, m),
  };
}

/** Probability that it happens to at least one of `many`, to each with the probability `p`. */
const any = (p, many) => (many === 0 ? 0 : -Math.expm1(many * Math.log1p(-Math.min(1, p))));

/**
 * Probability that somebody speaks at one place and somebody is at another, which a share of the members is at: a member does the one, the
 * other or neither, with `speaks`, `share` and the rest. Written so that no two numbers near 1 are subtracted.
 */
function heard(speaks, share, members) {
  const both = any(share, members) * any(speaks, members);
  if (share === 1) return both;
  const less = Math.min(1, (share * speaks) / ((1 - speaks) * (1 - share)));
  return both - ((1 - speaks) * (1 - share)) ** members * any(less, members);
}
