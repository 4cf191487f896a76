/** What coalescing the writes of a turn is worth to a Redis client: `make bench NAME=redis`. */
import { runBench } from '../lib/bench.js';
import { comparePeers } from '../lib/peers.js';
import { cases } from './cases.js';
import { startRedis } from './server.js';

const arm = new URL('./arm.js', import.meta.url);
const metrics = [
  { metric: 'ops_per_s', unit: '1/s', better: 'higher' },
  // CPU time of the client's process.
  { metric: 'cpu_us_per_op', unit: 'us', better: 'lower' },
];
/** Each peer and the least that `ahead` has to be; 0.95: no worse. */
const peers = {
  '50 per tick': { ioredis: 1.6, 'ioredis pipelining': undefined },
  single: { ioredis: 0.95, 'ioredis pipelining': undefined },
};

await runBench('redis', async (bench) => {
  const redis = await startRedis();
  try {
    for (const title of Object.keys(cases)) {
      await comparePeers(bench, { title, arm, args: [redis.port], peers: peers[title], metrics });
    }
  } finally {
    await redis.stop();
  }
});
