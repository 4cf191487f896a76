import { hasCounted } from './auto/arms.js';
import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a server that reads templates with fs.promises?';

export const about =
  'Fastify; each page is assembled from three files of 1 to 4 KB, which readFile of node:fs/promises reads for each ' +
  'request. 100 connections request four pages in turn. auto gathers the reads of a turn.';

export const { control, treatment, load, metrics, rounds } = pageServer('templates.js', {
  isOn: hasCounted('fs', 'reads'),
  load: 'templates-load',
  connections: 100,
  quick: 6,
});
