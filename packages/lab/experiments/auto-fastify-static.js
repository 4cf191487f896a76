import { armsOf } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';

export const question = 'What does auto bring a static server of @fastify/static?';

export const about =
  'Four pages of 4 KB, requested in turn on 100 connections. @fastify/static looks at each file with fs.stat and sends it ' +
  'as a stream: it never calls what auto gathers, so there is nothing to gain, and there should be nothing to lose.';

const { control: plain, auto } = armsOf('static.js', {
  isOn: ({ probe }) => Object.hasOwn(probe?.millrace ?? {}, 'monitor'),
});

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'script',
  file: new URL('./auto/static-load.js', import.meta.url).href,
  connections: 100,
  warmup: ({ quick }) => (quick ? 0.3 : 2),
  seconds: ({ quick }) => (quick ? 0.6 : 5),
};

export const metrics = applicationMetrics('request');

export const rounds = { full: 20, quick: 6 };
