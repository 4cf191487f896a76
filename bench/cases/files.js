/** Reads of whole files, at a time as many as a case says, from the page cache or not; and a server that sends files. */
import { armsOf } from '../lib/experiment.js';
import { makeCorpus, means } from '../programs/files/corpus.js';

const peers = ['fs.promises', 'callback', 'sync'];

/** The least that `ahead` has to be for the files per second, by peer. */
const targets = {
  ...Object.fromEntries(
    ['1KB', '4KB'].flatMap((size) =>
      [1, 10, 100, 1000].map((atOnce) => [
        `${size} C=${atOnce} warm`,
        { 'fs.promises': atOnce === 10 ? 3.3 : 3.94, callback: 1.6 },
      ]),
    ),
  ),
  ...Object.fromEntries(
    [1, 10, 100, 1000].map((atOnce) => [`64KB C=${atOnce} warm`, { 'fs.promises': 2 }]),
  ),
  '4KB C=100 cold': { 'fs.promises': 3 },
  '1MB C=100 cold': { 'fs.promises': 3 },
};

/** Cases without a target, only in a full run. */
const others = [
  ...[1, 10, 100].map((atOnce) => `1MB C=${atOnce} warm`),
  '1KB C=100 cold',
  '64KB C=100 cold',
];

export default {
  question: 'What reading files together is worth',
  place: 50,
  rows: {
    '4KB C=100 warm': [
      '100 files of 4 KB at once, in the page cache',
      [
        'files_per_s',
        'fs.promises',
        { readme: '100 files of 4 KB at once, in the page cache', beside: 'http 4KB' },
      ],
    ],
    '4KB C=1 warm': ['one such file at a time', ['files_per_s', 'fs.promises']],
    '64KB C=100 warm': ['100 of 64 KB', ['files_per_s', 'fs.promises']],
    '1MB C=100 cold': ['100 of 1 MB, not in the cache', ['files_per_s', 'fs.promises']],
    'http 4KB': ['an HTTP server of 4 KB files', ['reqs_per_s', 'fs.promises']],
  },
  *experiments({ quick }) {
    const size = quick ? { rounds: 6, warmup: 0 } : { rounds: 31, warmup: 1 };
    /** Peers of a run: a quick one leaves out those without a target. */
    const against = (all, wanted = {}) =>
      Object.fromEntries(
        all.filter((peer) => !quick || peer in wanted).map((peer) => [peer, wanted[peer]]),
      );
    const armsWith = (against, arm) => armsOf(['millrace', ...Object.keys(against)], arm);
    const corpus = makeCorpus();
    try {
      for (const name of [...Object.keys(targets), ...(quick ? [] : others)]) {
        const chosen = against(peers, targets[name]);
        yield {
          ...{ name, ...size, peers: chosen },
          arms: armsWith(chosen, (subject) => ['files/arm.js', name, subject, corpus.folder]),
          metrics: ['files_per_s', 'cpu_us_per_file'],
        };
      }
      const chosen = against(['fs.promises', 'callback'], { 'fs.promises': 1.7 });
      yield {
        ...{ name: 'http 4KB', ...size, peers: chosen },
        arms: armsWith(chosen, (subject) => ['files/http-arm.js', subject, corpus.folder]),
        metrics: ['reqs_per_s', 'cpu_us_per_req'],
        notes: (rounds) => [
          noteLoad(Math.max(...rounds.map(({ millrace }) => millrace.load))),
          `cold: dropped from the page cache by ${means}; the disk, or what keeps it for its machine, has a say`,
        ],
      };
    } finally {
      corpus.remove();
    }
  },
};

const noteLoad = (load) =>
  load > 0.9
    ? `http 4KB: the load was busy for up to ${Math.round(load * 100)} % of its time: millrace may be faster`
    : null;
