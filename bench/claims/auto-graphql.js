import { armsOf, hasAuto } from './auto/arms.js';
import { installed } from './auto/installed.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto cost subscriptions of GraphQL?';

export const about =
  'A server of graphql-ws with 100 clients; requests publish 50 values/s, each to all of them. The frames of a value differ, as ' +
  'each has the id of its subscription: there is nothing to gain.';

const { control: plain, auto } = armsOf(() => installed('graphql.js'), { isOn: hasAuto });

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'script',
  file: new URL('./auto/graphql-load.js', import.meta.url).href,
  connections: 100,
  ...window,
  // CPU time is known to 10 ms, and the question is one of 2 %.
  seconds: ({ size }) => (size === 'quick' ? 2 : 5),
};

export const metrics = applicationMetrics('delivery');

export const rounds = { quick: 6, paper: 20 };
