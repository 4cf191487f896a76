/** The rooms of a fleet, and what all of them make of its messages. */
import { roomTraffic } from './traffic.js';

/**
 * Rooms by size.
 *
 * @param {object} s the scenario
 * @returns {{ members: number, count: number }[]} `count` may be a fraction: it is a mean
 */
export const roomsOf = ({ connections, rooms, members }) =>
  members.map(([many, share]) => ({
    members: many,
    count: (connections * rooms * share) / many,
  }));

/**
 * The traffic of all rooms together.
 *
 * @param {object} s the scenario
 * @param {{ nodes: number, brokers: number, window: number }} fleet
 * @returns {import('./traffic.js').Traffic & { rooms: number }} each a second; of `spread` and `brokerSpread` the sums over rooms
 */
export function fleetTraffic(s, { nodes, brokers, window }) {
  const rate = s.rate / s.rooms;
  // A room that is at one node has nobody elsewhere.
  const places = s.placement === 'room' ? { nodes: 1, brokers: 1 } : { nodes, brokers };
  const total = { rooms: 0 };
  for (const { members, count } of roomsOf(s)) {
    total.rooms += count;
    for (const [name, value] of Object.entries(roomTraffic({ members, rate, window, ...places }))) {
      total[name] = (total[name] ?? 0) + count * value;
    }
  }
  return total;
}
