/** Cost of a fleet. */
import { fleetTraffic } from './crowd.js';
import { clientBytes } from './node.js';

const HOURS_A_MONTH = 730;

/**
 * @param {object} s the scenario, of one cell
 * @param {{ machines: number, nodes: number, brokers: number, window: number, brokerBytes: number }} fleet of one cell; bytes that its
 *   brokers send a second
 * @returns {{ machines: number, brokers: number, egress: number, zones: number, perHour: number, perMonth: number,
 *   perMillionSent: number | null, perMillionDelivered: number | null }} $; parts an hour; null where there are no messages
 */
export function costOf(s, { machines, nodes, brokers, window, brokerBytes }) {
  const traffic = fleetTraffic(s, { nodes, brokers, window });
  const gigabytes = (bytes) => (bytes * 3600) / 1e9;
  // To brokers goes each batch once.
  const toBrokers = traffic.batches * s.headerBytes + traffic.messages * (s.bytes + s.recordBytes);
  const parts = {
    machines: machines * s.machinePrice,
    brokers: brokers * s.brokerPrice,
    egress: gigabytes(clientBytes(s, traffic)) * s.egressPrice,
    zones: gigabytes(toBrokers + brokerBytes) * s.zoneShare * s.zonePrice,
  };
  const perHour = Object.values(parts).reduce((a, b) => a + b, 0);
  const perMillion = (rate) => (rate > 0 ? (perHour / (rate * 3600)) * 1e6 : null);
  return {
    ...parts,
    perHour,
    perMonth: perHour * HOURS_A_MONTH,
    perMillionSent: perMillion(traffic.messages),
    perMillionDelivered: perMillion(traffic.deliveries),
  };
}
