/** Storms of 500 clients, each of which gets one greeting, over bare connections and over handshakes of ws. */
import { armsOf } from '../lib/experiment.js';

const batched = ['batched', 'held 5'];

export default {
  question: 'The worth of taking the connections of a turn together',
  place: 170,
  rows: {
    'net 500 batched': [
      '500 clients connect at once; `batchConnections`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'net 500 held 5': [
      '500 clients connect, `maxDelay: 5`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'ws 500 batched': [
      '500 handshakes of `ws` at once; `batchConnections`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'ws 500 held 5': [
      '500 handshakes of `ws`, `maxDelay: 5`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
  },
  experiments: ({ quick }) =>
    ['net 500', 'ws 500'].map((name) => ({
      name,
      arms: armsOf(['plain', ...batched], (subject) => ['accept/arm.js', name, subject]),
      rounds: quick ? 7 : 21,
      metrics: ['cpu_us_per_connection', 'connections_per_call', 'p50_ms', 'p99_ms'],
      peers: { plain: undefined },
      comparisons: batched.map((ours) => ({ case: `${name} ${ours}`, ours, backend: 'js' })),
    })),
};
