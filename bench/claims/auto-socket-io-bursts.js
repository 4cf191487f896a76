import { armsOf, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto bring a server of socket.io that broadcasts in bursts?';

export const about =
  'Every 20 ms a request makes the server broadcast ten events of 100 bytes to 100 clients over WebSocket. The first event leaves ' +
  'at once, the others wait in the queue of engine.io; volatile ones are dropped there, with auto as without it. The clients check ' +
  'the order.';

const { control: plain, auto } = armsOf('socket-io-bursts.js', {
  isOn: hasCounted('install', 'frames'),
  args: ({ volatile }) => (volatile ? ['volatile'] : []),
});

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'script',
  file: new URL('./auto/bursts-load.js', import.meta.url).href,
  connections: 100,
  ...window,
};

export const cases = [
  { label: 'kept', volatile: false },
  { label: 'volatile', volatile: true },
];

export const metrics = applicationMetrics('delivery');

export const rounds = { quick: 6, paper: 20 };
