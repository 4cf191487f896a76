import { armsOf, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto bring a server that reads templates with fs.promises?';

export const about =
  'Fastify; each page is assembled from three files of 1 to 4 KB, which readFile of node:fs/promises reads for each ' +
  'request. 100 connections request four pages in turn. auto gathers the reads of a turn.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf('templates.js', { isOn: hasCounted('fs', 'reads') });

export const control = plain;
export const treatment = [auto(), byHand('files')];

export const load = {
  kind: 'script',
  file: new URL('./auto/templates-load.js', import.meta.url).href,
  connections: 100,
  ...window,
};

export const metrics = applicationMetrics('request');

export const rounds = { quick: 6, paper: 20 };
