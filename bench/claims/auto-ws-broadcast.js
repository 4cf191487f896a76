import { armsOf, hasCounted } from './auto/arms.js';
import { deliveries } from './auto/deliveries.js';
import { applicationMetrics, latencies } from './auto/metrics.js';

export const question = 'What does auto bring the broadcast server of the README of ws?';

export const about =
  'Each message of a client goes to all 100, including the sender, 100 bytes each. Open loop: all arms deliver the same number. ' +
  'Closed loop: each client sends its next message when the last one is back.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf('broadcast.js', { isOn: hasCounted('install', 'frames') });

export const control = plain;
export const treatment = [auto(), auto('net', { from: 'paper' }), byHand('broadcast')];

export const load = deliveries('raw');

export const cases = [
  { label: '30,000 deliveries/s', rate: 30_000 },
  { label: 'closed loop', from: 'paper' },
];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { quick: 6, paper: 20 };
