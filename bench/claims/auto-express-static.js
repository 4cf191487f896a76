import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a static server of express.static?';

export const about =
  'Four pages of 4 KB, requested in turn on 50 connections. express.static, of Express 5, looks at each file with fs.stat, and ' +
  'sends it as a stream: open, read, close. auto makes these calls on the loop, as the files are in memory; without it each is a ' +
  'trip to the threadpool.';

export const { control, treatment, load, metrics, rounds } = pageServer('express-static.js');
