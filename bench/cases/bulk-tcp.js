/** A process that receives in bulk from 128 connections, as their client or their server. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { native } from 'millrace';
import { armsOf, programPath } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';
import { mean } from '../lib/statistics.js';
import { clients, transfers } from '../programs/bulk-tcp/transfers.js';

/** The peers of each case, and the least that `ahead` has to be; 0.95: no worse. */
const peersOf = {
  '128 clients': { default: { bytes_per_s: 1.3, cpu_s: 1.4, loop_p99_ms: 0.95 }, onread: {} },
  upload: { default: {} },
  'empty callback': { default: {}, onread: {} },
  'long rtt': { default: {}, onread: {} },
};

export default {
  question: 'What larger reads are worth to a process that receives in bulk',
  place: 140,
  rows: {
    '128 clients': [
      '128 clients download, `enlarge`',
      ['bytes_per_s', 'default'],
      ['bytes_per_s', 'onread', { against: '`onread`, 256 KB' }],
    ],
  },
  async *experiments({ quick }) {
    if (native === null)
      throw new Refused('without the addon no read changes its size; build it with `make setup`');
    const sender = fork(programPath('bulk-tcp/sender.js'));
    try {
      const [{ port }] = await once(sender, 'message');
      for (const [name, peers] of Object.entries(peersOf)) {
        yield {
          name,
          arms: armsOf(['millrace', ...Object.keys(peers)], (subject) => [
            ...['bulk-tcp/arm.js', name, subject, port],
          ]),
          rounds: quick ? 6 : 31,
          metrics: [
            { metric: 'bytes_per_s', unit: '1/s' },
            // Of the process that receives, for each GB.
            { metric: 'cpu_s', unit: 's' },
            'loop_p99_ms',
          ],
          peers,
          notes: (rounds) => [noteReads(name, rounds), noteIdle(name, rounds)],
        };
      }
    } finally {
      sender.disconnect();
    }
  },
};

function noteReads(name, rounds) {
  const of = (key) => mean(rounds.map(({ millrace }) => millrace[key]));
  return (
    `${name}: millrace read ${Math.round(of('read_size') / 1024)} KB at a time at the end; ` +
    `${Math.round(of('raised'))} of ${clients} receive buffers were raised`
  );
}

function noteIdle(name, rounds) {
  const idle = Object.keys(rounds[0]).filter((subject) =>
    rounds.every((round) => round[subject].utilization < 0.85),
  );
  if (transfers[name].path || idle.length === 0) return null;
  return `${name}: ${idle.join(', ')} had CPU time to spare: the sender, or other work on the machine, was the limit`;
}
