import { armsOf, hasCounted } from './auto/arms.js';
import { deliveries } from './auto/deliveries.js';
import { applicationMetrics, latencies } from './auto/metrics.js';

export const question = 'What does auto bring a plain chat of socket.io?';

export const about =
  'What one of 100 clients says goes to all by io.emit(), 100 bytes each; they speak Engine.IO 4 over WebSocket. Open loop: ' +
  'all arms deliver the same, and what a delivery costs is asked. Closed loop: each client sends the next message when its ' +
  'last one is back. The generator checks each delivery. ' +
  'What leaves natively does so by send() or by io_uring, as a probe finds quicker at the start: calls of the first are ' +
  'counted, and what the second does in one call is not.';

const { control: plain, auto } = armsOf('socket-io-chat.js', {
  isOn: hasCounted('install', 'frames'),
});

export const control = plain;
export const treatment = auto();

export const load = deliveries('socket.io');

export const cases = [
  { label: '15,000 deliveries/s', rate: 15_000 },
  { label: 'closed loop', quick: false },
];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { full: 20, quick: 6 };
