import { hasCounted } from './auto/arms.js';
import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a server that reads templates with fs.promises?';

export const about =
  'Fastify puts each page together of three files of 1 to 4 KB, read by readFile of node:fs/promises for each request. 100 ' +
  'connections request four pages in turn. auto gathers the reads of a turn.';

export const { control, treatment, load, metrics, rounds } = pageServer('templates.js', {
  isOn: hasCounted('fs', 'reads'),
  load: 'templates-load',
  connections: 100,
  quick: 6,
});
