/** The worth of sharing the connections of a `pg` pool: `make bench NAME=pg`. */
import { findPostgres, startPostgres } from '../../scripts/lib/postgres.js';
import { runArm } from '../lib/arm.js';
import { Refused, runBench } from '../lib/bench.js';
import { cases } from './cases.js';
import { fill } from './subjects.js';

const arm = new URL('./arm.js', import.meta.url);
const rate = { metric: 'queries_per_s', unit: '1/s', better: 'higher' };
/** CPU time of the client's process. */
const cpu = { metric: 'cpu_us_per_query', unit: 'us', better: 'lower' };
const p99 = { metric: 'p99_ms', unit: 'ms', better: 'lower' };
const ours = 'millrace';
/** Each peer and the least that `ahead` in queries has to be; 0.95: no worse. */
const peers = {
  '100 over 2': { 'pool.query': 2, 'postgres.js': undefined },
  '100 over 2 named': { 'pool.query': 2, 'postgres.js': undefined },
  '100 over 10': { 'pool.query': undefined, 'postgres.js': undefined },
  '2 over 2': { 'pool.query': 0.95 },
};

await runBench('pg', async (bench) => {
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  const bin = findPostgres();
  if (!bin) throw new Refused('there is no PostgreSQL; on Debian: apt-get install postgresql');
  const server = await startPostgres(bin);
  try {
    await fill(server.url);
    for (const title of Object.keys(cases)) await compare(title);
  } finally {
    await server.remove();
  }

  async function compare(title) {
    const subjects = [ours, ...Object.keys(peers[title])];
    const arms = subjects.map((subject) => [
      subject,
      () => runArm(arm, [title, subject, server.url]),
    ]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
    for (const subject of subjects) {
      const wrong = rounds.find((round) => round[subject].wrong !== null);
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong[subject].wrong}`);
    }
    const values = (subject, { metric }) => rounds.map((round) => round[subject][metric]);
    for (const [peer, target] of Object.entries(peers[title])) {
      bench.add({ case: title, peer, ...rate }, values(ours, rate), values(peer, rate), target);
      for (const metric of [cpu, p99]) {
        bench.add({ case: title, peer, ...metric }, values(ours, metric), values(peer, metric));
      }
    }
  }
});
