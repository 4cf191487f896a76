import { armsOf, hasAuto } from './auto/arms.js';
import { deliveries } from './auto/deliveries.js';
import { applicationMetrics, latencies } from './auto/metrics.js';

export const question = 'What does auto bring a plain chat of socket.io?';

export const about =
  'Each message of one of 100 clients goes to all by io.emit(), 100 bytes each, over WebSocket. Open loop: all arms deliver the ' +
  'same number. Closed loop: each client sends its next message when the last one is back.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf('socket-io-chat.js', {
  // At this rate the turns of a socket bring one frame, and auto leaves them to ws.
  isOn: hasAuto,
});

export const control = plain;
export const treatment = [auto(), byHand('cork', { from: 'paper' })];

export const load = deliveries('socket.io');

export const cases = [
  { label: '15,000 deliveries/s', rate: 15_000 },
  { label: 'closed loop', from: 'paper' },
];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { quick: 6, paper: 20 };
