/** The worth of sharing the connections of a `pg` pool: `make bench NAME=pg`. */
import { findPostgres, startPostgres } from '../../scripts/lib/postgres.js';
import { Refused, runBench } from '../lib/bench.js';
import { comparePeers } from '../lib/peers.js';
import { cases } from './cases.js';
import { fill } from './subjects.js';

const arm = new URL('./arm.js', import.meta.url);
const metrics = [
  { metric: 'queries_per_s', unit: '1/s', better: 'higher' },
  // CPU time of the client's process.
  { metric: 'cpu_us_per_query', unit: 'us', better: 'lower' },
  { metric: 'p99_ms', unit: 'ms', better: 'lower' },
];
/** Each peer and the least that `ahead` in queries has to be; 0.95: no worse. */
const peers = {
  '100 over 2': { 'pool.query': 2, 'postgres.js': undefined },
  '100 over 2 named': { 'pool.query': 2, 'postgres.js': 1 },
  '100 over 2 prepare': { 'pool.query': undefined, 'postgres.js': 1 },
  '100 over 10': { 'pool.query': undefined, 'postgres.js': undefined },
  '2 over 2': { 'pool.query': 0.95 },
};

await runBench('pg', async (bench) => {
  const bin = findPostgres();
  if (!bin) throw new Refused('there is no PostgreSQL; on Debian: apt-get install postgresql');
  const server = await startPostgres(bin);
  try {
    await fill(server.url);
    for (const title of Object.keys(cases)) {
      await comparePeers(bench, { title, arm, args: [server.url], peers: peers[title], metrics });
    }
  } finally {
    await server.remove();
  }
});
