/** What committing appends together is worth: `make bench NAME=appends`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { cases } from './cases.js';

const arm = new URL('./arm.js', import.meta.url);
const rate = { metric: 'appends_per_s', unit: '1/s', better: 'higher' };
const cpu = { metric: 'cpu_us_per_append', unit: 'us', better: 'lower' };
const ours = 'millrace';
const peers = ['appendFile', 'held-fd', 'writestream'];

await runBench('appends', async (bench) => {
  const size = { rounds: bench.quick ? 8 : 31, warmup: 1 };
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-appends-'));
  try {
    for (const title of Object.keys(cases)) await compare(title);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }

  async function compare(title) {
    const subjects = [ours, ...peers];
    const arms = subjects.map((subject) => [subject, () => runArm(arm, [title, subject, folder])]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
    for (const subject of subjects) {
      const wrong = rounds.find((round) => round[subject].wrong !== null);
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong[subject].wrong}`);
    }
    const values = (subject, { metric }) => rounds.map((round) => round[subject][metric]);
    for (const peer of peers) {
      const target = cases[title].targets[peer];
      bench.add({ case: title, peer, ...rate }, values(ours, rate), values(peer, rate), target);
      bench.add({ case: title, peer, ...cpu }, values(ours, cpu), values(peer, cpu));
    }
  }
});
