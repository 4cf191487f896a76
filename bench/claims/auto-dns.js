import { armsOf, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question =
  'What does auto bring a server that asks another one by name, many times a page?';

export const about =
  'A server of node:http puts each page together of ten parts, and connects to localhost for each; the server of the parts is in ' +
  'the same process. 8 connections request pages. Each connection to a name is a dns.lookup, a job of the threadpool; auto merges ' +
  'equal ones that come together.';

const { control: plain, auto, byHand } = armsOf('parts.js', { isOn: hasCounted('dns', 'shared') });

export const control = plain;
export const treatment = [auto(), byHand('dns')];

export const load = {
  kind: 'script',
  file: new URL('./auto/hello-load.js', import.meta.url).href,
  connections: 8,
  ...window,
};

export const metrics = applicationMetrics('page');

export const rounds = { quick: 6, paper: 20 };
