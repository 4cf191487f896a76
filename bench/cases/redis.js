/** Half of the commands are SET, half GET; each value is read by the command after the one that wrote it. */
import { armsOf } from '../lib/experiment.js';
import { startRedis } from '../lib/redis.js';

/** Cases: commands that are sent at once, and for each peer the least that `ahead` has to be; 0.95: no worse. */
const cases = {
  '50 per tick': { atOnce: 50, peers: { ioredis: 1.6, 'ioredis pipelining': undefined } },
  single: { atOnce: 1, peers: { ioredis: 0.95, 'ioredis pipelining': undefined } },
};

export default {
  question: 'What coalescing the writes of a turn is worth to a Redis client',
  needs: ['redis-server'],
  place: 150,
  rows: {
    '50 per tick': [
      '50 commands in a tick, `coalesce`',
      ['ops_per_s', 'ioredis'],
      ['ops_per_s', 'ioredis pipelining', { against: 'its own pipelining' }],
    ],
    single: ['one command at a time', ['ops_per_s', 'ioredis']],
  },
  async *experiments({ quick }) {
    const redis = await startRedis();
    try {
      for (const [name, { atOnce, peers }] of Object.entries(cases)) {
        yield {
          name,
          arms: armsOf(['millrace', ...Object.keys(peers)], (subject) => [
            ...['redis/arm.js', subject, redis.port, atOnce],
          ]),
          rounds: quick ? 9 : 31,
          metrics: ['ops_per_s', 'cpu_us_per_op'],
          peers,
        };
      }
    } finally {
      await redis.stop();
    }
  },
};
