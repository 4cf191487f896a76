import { armsOf, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question =
  'What does auto bring a server that reads one file a request with fs.readFile?';

export const about =
  'A server of node:http; for each request it reads one of four pages of 4 KB with the callback readFile of node:fs. 50 ' +
  'connections request them in turn. auto reads files that are in the page cache on the loop.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf('read-file.js', { isOn: hasCounted('fs', 'onLoop') });

export const control = plain;
export const treatment = [auto(), byHand('files')];

export const load = {
  kind: 'script',
  file: new URL('./auto/templates-load.js', import.meta.url).href,
  connections: 50,
  ...window,
};

export const metrics = applicationMetrics('request');

export const rounds = { quick: 6, paper: 20 };
