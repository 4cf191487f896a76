/** Calls at a time on one file, each with a record of 100 bytes; again as soon as all of them are done. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armsOf } from '../lib/experiment.js';

const cases = {
  'durable C=100': { atOnce: 100, durable: true, appendFile: 8 },
  'durable C=10': { atOnce: 10, durable: true },
  'durable C=1': { atOnce: 1, durable: true },
  'buffered C=100': { atOnce: 100, durable: false },
};

export default {
  question: 'What committing appends together is worth',
  place: 60,
  rows: {
    'durable C=100': [
      '100 callers, `durable`',
      [
        'appends_per_s',
        'appendFile',
        {
          against: '`appendFile`, `flush`',
          readme: '100 callers that append to one file, each until it is on the disk',
          beside: 'durable C=1',
        },
      ],
      ['appends_per_s', 'held-fd', { against: 'one open file, `fdatasync` each' }],
    ],
    'durable C=1': [
      'one caller',
      ['appends_per_s', 'appendFile', { against: '`appendFile`, `flush`' }],
    ],
    'buffered C=100': [
      '100 callers, handed to the system only',
      ['appends_per_s', 'writestream', { against: 'a write stream' }],
    ],
  },
  *experiments({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-appends-'));
    try {
      for (const [name, { atOnce, durable, appendFile }] of Object.entries(cases)) {
        yield {
          name,
          arms: armsOf(['millrace', 'appendFile', 'held-fd', 'writestream'], (subject) => [
            ...['appends/arm.js', subject, atOnce, durable ? 'durable' : 'buffered', folder],
          ]),
          rounds: quick ? 8 : 31,
          metrics: ['appends_per_s', 'cpu_us_per_append'],
          peers: { appendFile, 'held-fd': undefined, writestream: undefined },
        };
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
