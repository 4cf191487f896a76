import { hasCounted } from './auto/arms.js';
import { pageServer } from './auto/static.js';

export const question =
  'What does auto bring a server that reads a file per request with fs.readFile?';

export const about =
  'A server of node:http reads one of four pages of 4 KB per request, with the callback readFile of node:fs, for 50 connections. ' +
  'auto reads files that are in the page cache on the loop.';

export const { control, treatment, load, metrics, rounds } = pageServer('read-file.js', {
  isOn: hasCounted('fs', 'onLoop'),
  load: 'templates-load',
  quick: 6,
});
