import { armsOf, hasAuto } from './auto/arms.js';
import { installed } from './auto/installed.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto cost the server of PeerJS?';

export const about =
  'The server of PeerJS passes signals between pairs of clients: 100 clients send 6,000 candidates/s of 500 bytes, and a heartbeat ' +
  'every 5 s each. Each signal is a frame alone, with its own content: there is nothing to gain.';

const { control: plain, auto } = armsOf(() => installed('peer.js'), {
  isOn: hasAuto,
  health: '/',
});

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'script',
  file: new URL('./auto/peer-load.js', import.meta.url).href,
  connections: 100,
  ...window,
  // CPU time is known to 10 ms, and the question is one of 2 %.
  seconds: ({ size }) => (size === 'quick' ? 2 : 5),
};

export const metrics = applicationMetrics('signal');

export const rounds = { quick: 6, paper: 20 };
