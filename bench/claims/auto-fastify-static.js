import { pageServer } from './auto/static.js';

export const question = 'What does auto bring a static server of @fastify/static?';

export const about =
  'Four pages of 4 KB on 50 connections. @fastify/static makes the same calls as express.static.';

export const { control, treatment, load, metrics, rounds } = pageServer('static.js');
