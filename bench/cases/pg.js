/** Look-ups of a row by its key. Every row is checked. */
import { findPostgres, startPostgres } from '../../scripts/lib/postgres.js';
import { armsOf } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';

/**
 * Cases: callers that await one query after the other, clients of the pool, whether statements have a name, or `pipelined` prepares them;
 * and for each peer the least that `ahead` in queries has to be; 0.95: no worse.
 */
const cases = {
  '100 over 2': {
    plan: { callers: 100, clients: 2, named: false },
    peers: { 'pool.query': 2, 'postgres.js': undefined },
  },
  '100 over 2 named': {
    plan: { callers: 100, clients: 2, named: true },
    peers: { 'pool.query': 2, 'postgres.js': 1 },
  },
  '100 over 2 prepare': {
    plan: { callers: 100, clients: 2, named: false, prepare: true },
    peers: { 'pool.query': undefined, 'postgres.js': 1 },
  },
  '100 over 10': {
    plan: { callers: 100, clients: 10, named: false },
    peers: { 'pool.query': undefined, 'postgres.js': undefined },
  },
  '2 over 2': {
    plan: { callers: 2, clients: 2, named: false },
    peers: { 'pool.query': 0.95 },
  },
};

export default {
  question: 'The worth of sharing the connections of a `pg` pool',
  needs: ['postgresql'],
  place: 160,
  rows: {
    '100 over 2': [
      '100 callers that look up rows in PostgreSQL over 2 connections, `pipelined`',
      ['queries_per_s', 'pool.query'],
      ['cpu_us_per_query', 'pool.query'],
      ['queries_per_s', 'postgres.js', { against: 'postgres.js, which prepares' }],
    ],
    '100 over 2 named': [
      'the same with named statements, which `pg` prepares',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js'],
      ['cpu_us_per_query', 'postgres.js'],
    ],
    '100 over 2 prepare': [
      'the same with `prepare`',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js'],
    ],
    '100 over 10': [
      '100 callers over 10 connections',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js', { against: 'postgres.js, which prepares' }],
    ],
    '2 over 2': [
      'as many callers as connections',
      ['queries_per_s', 'pool.query'],
      ['cpu_us_per_query', 'pool.query'],
    ],
  },
  async *experiments({ quick }) {
    const bin = findPostgres();
    if (!bin) throw new Refused('there is no PostgreSQL; on Debian: apt-get install postgresql');
    const server = await startPostgres(bin);
    try {
      const { fill } = await import('../programs/pg/subjects.js');
      await fill(server.url);
      for (const [name, { plan, peers }] of Object.entries(cases)) {
        yield {
          name,
          arms: armsOf(['millrace', ...Object.keys(peers)], (subject) => [
            ...['pg/arm.js', subject, server.url, JSON.stringify(plan)],
          ]),
          rounds: quick ? 9 : 31,
          metrics: ['queries_per_s', 'cpu_us_per_query', 'p99_ms'],
          peers,
        };
      }
    } finally {
      await server.remove();
    }
  },
};
