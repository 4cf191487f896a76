import { armsOf, hasAuto, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { startPostgres } from './auto/postgres.js';

export const question =
  'What do auto and pipelined() bring a server with fewer connections to PostgreSQL than requests?';

export const about =
  'One row per request by pool.query of pg, for 100 client connections, with 2 connections to PostgreSQL. auto changes no queries. ' +
  'The arm pipelined(pool) runs without auto and changes one line: the pool is that of millrace/pg, whose queries share ' +
  'connections. CPU time is that of the application, without PostgreSQL.';

const {
  control: plain,
  auto,
  changed,
} = armsOf('users.js', {
  isOn: hasAuto,
  args: () => [startPostgres()],
});

export const control = plain;
export const treatment = [
  auto(),
  changed('pipelined(pool)', { PIPELINED: '1' }, { isOn: hasCounted('pipelined', 'shared') }),
];

export const load = {
  kind: 'script',
  file: new URL('./auto/users-load.js', import.meta.url).href,
  connections: 100,
  warmup: ({ size }) => (size === 'quick' ? 1 : 3),
  seconds: ({ size }) => (size === 'quick' ? 1 : 5),
};

const [answers, ...others] = ['answers_per_s', 'cpu_us', 'syscalls', 'rss_mb', 'utilization'].map(
  (name) => applicationMetrics('request').find((metric) => metric.name === name),
);
export const metrics = [{ ...answers, better: 'higher' }, ...others];

export const rounds = { quick: 6, paper: 20 };
