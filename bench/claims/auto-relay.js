import { armsOf, hasAuto } from './auto/arms.js';
import { applicationMetrics, latencies } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto cost a relay whose turns bring one frame?';

export const about =
  'A server of ws sends each message, 100 bytes, to the one other client of its room, as signalling servers do; 100 clients in 50 ' +
  'rooms, open loop. Frames differ, and a socket is rarely sent two in a turn: there is nothing to gain.';

const { control: plain, auto } = armsOf('relay.js', { isOn: hasAuto });

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'ws',
  protocol: 'raw',
  mode: 'open',
  to: 'others',
  deliveriesRate: ({ rate }) => rate,
  connections: 100,
  rooms: 50,
  payload: 100,
  ...window,
  drain: 60,
};

export const cases = [
  { label: '3,000 messages/s', rate: 3000, from: 'paper' },
  { label: '10,000 messages/s', rate: 10_000 },
];

export const metrics = [...applicationMetrics('message'), ...latencies];

export const rounds = { quick: 6, paper: 20 };
