/** What larger reads are worth to a process that receives in bulk: `make bench NAME=bulk-tcp`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { native } from 'millrace';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { cases, clients } from './cases.js';

const module = (name) => new URL(name, import.meta.url);
const ours = 'millrace';
const metrics = [
  { metric: 'bytes_per_s', unit: '1/s', better: 'higher' },
  /** Of the process that receives, for each GB. */
  { metric: 'cpu_s', unit: 's', better: 'lower' },
  { metric: 'loop_p99_ms', unit: 'ms', better: 'lower' },
];
/** Each case with its peers, and the least that `ahead` has to be, in the order of the metrics; 0.95: no worse. */
const plan = {
  '128 clients': { default: [1.3, 1.4, 0.95], onread: [] },
  upload: { default: [] },
  'empty callback': { default: [], onread: [] },
  'long rtt': { default: [], onread: [] },
};

await runBench('bulk-tcp', async (bench) => {
  if (native === null)
    throw new Refused('without the addon no read changes its size; build it with `make setup`');
  const sender = fork(module('sender.js'));
  try {
    const [{ port }] = await once(sender, 'message');
    for (const title of Object.keys(cases)) await compare(title, port);
  } finally {
    sender.disconnect();
  }

  async function compare(title, port) {
    const subjects = [ours, ...Object.keys(plan[title])];
    const rounds = await bench.rounds(
      title,
      Object.fromEntries(
        subjects.map((subject) => [
          subject,
          () => runArm(module('arm.js'), [title, subject, port]),
        ]),
      ),
      { rounds: bench.quick ? 6 : 31, warmup: 1 },
    );
    for (const subject of subjects) {
      for (const { [subject]: sample } of rounds) check(title, subject, sample);
    }
    const values = (subject, metric) => rounds.map((round) => round[subject][metric]);
    for (const [peer, least] of Object.entries(plan[title])) {
      for (const [n, { metric, ...what }] of metrics.entries()) {
        const figures = [values(ours, metric), values(peer, metric)];
        bench.add({ case: title, peer, metric, ...what }, ...figures, least[n]);
      }
    }
    remark(title, rounds);
  }

  /** The feature is on in one arm, off in the others, and all bytes were right. */
  function check(title, subject, sample) {
    const refuse = (why) => {
      throw new Refused(`in the case '${title}', ${subject}: ${why}`);
    };
    if (sample.wrong !== null) refuse(sample.wrong);
    if (sample.bytes_per_s === 0) refuse('nothing was received');
    const expected = subject === ours ? clients : 0;
    if (sample.enlarged !== expected)
      refuse(`${sample.enlarged} sockets were enlarged, not ${expected}`);
  }

  function remark(title, rounds) {
    const mean = (key) => rounds.reduce((sum, round) => sum + round[ours][key], 0) / rounds.length;
    bench.note(
      `${title}: ${ours} read ${Math.round(mean('read_size') / 1024)} KB at a time at the end; ` +
        `${Math.round(mean('raised'))} of ${clients} receive buffers were raised`,
    );
    if (cases[title].path) return;
    const idle = Object.keys(rounds[0]).filter((subject) =>
      rounds.every((round) => round[subject].utilization < 0.85),
    );
    if (idle.length > 0)
      bench.note(
        `${title}: ${idle.join(', ')} had CPU time to spare: the sender, or other work on the machine, was the limit`,
      );
  }
});
