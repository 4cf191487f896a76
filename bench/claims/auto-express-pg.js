import { armsOf, hasAuto } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { startPostgres } from './auto/postgres.js';

export const question = 'What does auto cost a server of Express that asks PostgreSQL?';

export const about =
  'One row per request by pool.query of pg, for 10 client connections, with as many connections to PostgreSQL. auto finds nothing ' +
  'to batch. CPU time is that of the application, without PostgreSQL.';

const { control: plain, auto } = armsOf('express-users.js', {
  isOn: hasAuto,
  args: () => [startPostgres()],
});

export const control = plain;
export const treatment = auto();

export const load = {
  kind: 'script',
  file: new URL('./auto/users-load.js', import.meta.url).href,
  connections: 10,
  // Code that is compiled meanwhile costs as much as what is measured.
  warmup: ({ size }) => (size === 'quick' ? 2.5 : 5),
  seconds: ({ size }) => (size === 'quick' ? 1 : 5),
};

export const metrics = applicationMetrics('request');

export const rounds = { quick: 8, paper: 30 };
