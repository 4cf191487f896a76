/** What coalescing the writes of a turn is worth to a Redis client: `make bench NAME=redis`. */
import { runArm } from '../lib/arm.js';
import { Refused, runBench } from '../lib/bench.js';
import { cases } from './cases.js';
import { startRedis } from './server.js';

const arm = new URL('./arm.js', import.meta.url);
const rate = { metric: 'ops_per_s', unit: '1/s', better: 'higher' };
/** Of the client's process. */
const cpu = { metric: 'cpu_us_per_op', unit: 'us', better: 'lower' };
const ours = 'millrace';
/** Each peer and the least that `ahead` has to be; 0.95: no worse. */
const peers = {
  '50 per tick': { ioredis: 1.6, 'ioredis pipelining': undefined },
  single: { ioredis: 0.95, 'ioredis pipelining': undefined },
};

await runBench('redis', async (bench) => {
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  const redis = await startRedis();
  try {
    for (const title of Object.keys(cases)) await compare(title);
  } finally {
    await redis.stop();
  }

  async function compare(title) {
    const subjects = [ours, ...Object.keys(peers[title])];
    const arms = subjects.map((subject) => [
      subject,
      () => runArm(arm, [title, subject, redis.port]),
    ]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
    for (const subject of subjects) {
      const wrong = rounds.find((round) => round[subject].wrong !== null);
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong[subject].wrong}`);
    }
    const values = (subject, { metric }) => rounds.map((round) => round[subject][metric]);
    for (const [peer, target] of Object.entries(peers[title])) {
      bench.add({ case: title, peer, ...rate }, values(ours, rate), values(peer, rate), target);
      bench.add({ case: title, peer, ...cpu }, values(ours, cpu), values(peer, cpu));
    }
  }
});
