import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a static server of sirv?';

export const about =
  'Four pages of 4 KB on 50 connections. sirv looks at its files at the start, and sends each as a stream, as express.static does.';

export const { control, treatment, load, metrics, rounds } = pageServer('sirv.js');
