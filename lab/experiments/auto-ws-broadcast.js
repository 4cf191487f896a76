import { armsOf, hasCounted } from './auto/arms.js';
import { deliveries } from './auto/deliveries.js';
import { applicationMetrics, latencies } from './auto/metrics.js';

export const question = 'What does auto bring the broadcast server of the README of ws?';

export const about =
  'What one client says goes to all 100, itself among them, 100 bytes each. Open loop: all arms deliver the same, and what ' +
  'a delivery costs is asked. Closed loop: each client sends the next message when its last one is back. The generator ' +
  'checks each delivery. ' +
  'What leaves natively does so by send() or by io_uring, as a probe finds quicker at the start: calls of the first are ' +
  'counted, and what the second does in one call is not.';

const { control: plain, auto } = armsOf('broadcast.js', { isOn: hasCounted('install', 'frames') });

export const control = plain;
export const treatment = [auto(), auto('net', { quick: false })];

export const load = deliveries('raw');

export const cases = [
  { label: '30,000 deliveries/s', rate: 30_000 },
  { label: 'closed loop', quick: false },
];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { full: 20, quick: 6 };
