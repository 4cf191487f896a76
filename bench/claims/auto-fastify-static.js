import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a static server of @fastify/static?';

export const about =
  'Four pages of 4 KB, requested in turn on 50 connections. @fastify/static looks at each file with fs.stat, and sends it as a stream: it is ' +
  'opened, read up to its end, and closed. auto makes these calls on the loop, as the files are in memory; without it each is a trip ' +
  'to the threadpool.';

export const { control, treatment, load, metrics, rounds } = pageServer('static.js');
