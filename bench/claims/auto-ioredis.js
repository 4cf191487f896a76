import { freePort } from '@millrace/lab/run';
import { armsOf, hasCounted } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { startRedis } from './auto/redis.js';
import { window } from './auto/window.js';

const port = await freePort();

export const question = 'What does auto with net bring a server that asks Redis by ioredis?';

export const about =
  'A server of node:http makes four calls to Redis for each response, over one connection, for 50 client connections. MILLRACE=net ' +
  'sends the writes of a turn together. ioredis has its own option, enableAutoPipelining, which gathers commands before they are ' +
  'written: the second case turns it on in all arms. The figures are those of the application, without Redis.';

const { control: plain, auto } = armsOf('profiles.js', {
  isOn: hasCounted('coalesce', 'writes'),
  args() {
    startRedis(port);
    return [`${port}`];
  },
  env: ({ pipelining }) => ({ AUTO_PIPELINING: pipelining ? '1' : '' }),
});

export const control = plain;
export const treatment = auto('net');

export const load = {
  kind: 'http',
  connections: 50,
  ...window,
};

export const cases = [
  { label: 'ioredis as it is', pipelining: false },
  { label: 'enableAutoPipelining', pipelining: true, from: 'paper' },
];

export const metrics = applicationMetrics('request');

export const rounds = { quick: 6, paper: 20 };
