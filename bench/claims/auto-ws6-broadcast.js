import { armsOf, hasCounted } from './auto/arms.js';
import { deliveries } from './auto/deliveries.js';
import { applicationMetrics, latencies } from './auto/metrics.js';

export const question = 'What does auto bring a broadcast server of ws 6?';

export const about =
  'The same server with version 6 of ws, of 2019, which many applications still have. Each message of a client goes to all 100, ' +
  'including the sender, 100 bytes each.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf('broadcast-ws6.js', {
  isOn: hasCounted('install', 'frames'),
});

export const control = plain;
export const treatment = [auto(), byHand('broadcast', { from: 'paper' })];

export const load = deliveries('raw');

export const cases = [{ label: '30,000 deliveries/s', rate: 30_000 }, { label: 'closed loop' }];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { quick: 6, paper: 20 };
