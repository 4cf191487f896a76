/** What reading files together is worth: `make bench NAME=files`. */
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { httpTarget, others, targets } from './cases.js';
import { makeCorpus, means } from './corpus.js';

const arm = new URL('./arm.js', import.meta.url);
const httpArm = new URL('./http-arm.js', import.meta.url);
const higher = (metric) => ({ metric, unit: '1/s', better: 'higher' });
const lower = (metric) => ({ metric, unit: 'us', better: 'lower' });
const ours = 'millrace';

await runBench('files', async (bench) => {
  const size = bench.quick ? { rounds: 6, warmup: 0 } : { rounds: 31, warmup: 1 };
  const peers = ['fs.promises', 'callback', 'sync'];
  const corpus = makeCorpus();
  try {
    for (const title of [...Object.keys(targets), ...(bench.quick ? [] : others)]) {
      const start = (subject) => runArm(arm, [title, subject, corpus.folder]);
      await compare(
        title,
        peers,
        start,
        higher('files_per_s'),
        lower('cpu_us_per_file'),
        targets[title],
      );
    }
    const start = (subject) => runArm(httpArm, [subject, corpus.folder]);
    const wanted = { 'fs.promises': httpTarget };
    const rounds = await compare(
      'http 4KB',
      peers.slice(0, 2),
      start,
      higher('reqs_per_s'),
      lower('cpu_us_per_req'),
      wanted,
    );
    const load = Math.max(...rounds.map((round) => round[ours].load));
    if (load > 0.9) {
      bench.note(
        `http 4KB: the load was busy for up to ${Math.round(load * 100)} % of its time: millrace may be faster`,
      );
    }
  } finally {
    corpus.remove();
  }
  bench.note(
    `cold: dropped from the page cache by ${means}; the disk, or what keeps it for its machine, has a say`,
  );

  async function compare(title, all, start, rate, cpu, wanted = {}) {
    const against = bench.quick ? all.filter((peer) => peer in wanted) : all;
    const subjects = [ours, ...against];
    const arms = Object.fromEntries(subjects.map((subject) => [subject, () => start(subject)]));
    const rounds = await bench.rounds(title, arms, size);
    for (const subject of subjects) {
      const wrong = rounds.find((round) => round[subject].wrong !== null);
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong[subject].wrong}`);
    }
    const values = (subject, { metric }) => rounds.map((round) => round[subject][metric]);
    for (const peer of against) {
      bench.add(
        { case: title, peer, ...rate },
        values(ours, rate),
        values(peer, rate),
        wanted[peer],
      );
      bench.add({ case: title, peer, ...cpu }, values(ours, cpu), values(peer, cpu));
    }
    return rounds;
  }
});
